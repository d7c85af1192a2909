// verdict: race-free
// unbounded
// Endless readers of a lazily made value.
#include <pthread.h>

static int value;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void)
{
    value = 1; // NORACE
}

static void *reader(void *arg)
{
    int last = 1;
    while (last) {
        pthread_once(&once, make);
        last = value; // NORACE
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
