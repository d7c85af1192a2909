// verdict: race
// The reader is atomic, the writer is not.
#include <pthread.h>

static int level;

static void *writer(void *arg)
{
    level = 1; // RACE
    return NULL;
}

static void *reader(void *arg)
{
    int *out = arg;
    *out = __atomic_load_n(&level, __ATOMIC_ACQUIRE); // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int seen = 0;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, &seen);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen;
}
