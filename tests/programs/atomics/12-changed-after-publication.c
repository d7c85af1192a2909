// verdict: race
// As 11, but one field is filled in after the pointer is out.
#include <pthread.h>
#include <stdatomic.h>

struct config {
    int width, height;
};

static struct config storage;
static _Atomic(struct config *) current;

static void *reader(void *arg)
{
    int *sum = arg;
    struct config *config = atomic_load(&current);
    if (config) {
        *sum += config->width; // NORACE
        *sum += config->height; // RACE
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, reader, &sum);
    storage.width = 3; // NORACE
    atomic_store(&current, &storage);
    storage.height = 4; // RACE
    pthread_join(thread, NULL);
    return sum;
}
