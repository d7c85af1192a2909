// verdict: race-free
// The pointer to the finished object is published atomically.
#include <pthread.h>
#include <stdatomic.h>

struct config {
    int width, height;
};

static struct config storage;
static _Atomic(struct config *) current;

static void *reader(void *arg)
{
    int *area = arg;
    struct config *config = atomic_load(&current);
    if (config)
        *area = config->width * config->height; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int area = 0;
    pthread_create(&thread, NULL, reader, &area);
    storage.width = 3; // NORACE
    storage.height = 4; // NORACE
    atomic_store(&current, &storage);
    pthread_join(thread, NULL);
    return area == 0 || area == 12 ? 0 : 1;
}
