// verdict: race
// unbounded
// A lock made of an atomic flag is opened by a thread that does not hold it.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int busy;
static int shared;

static void *worker(void *arg)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong(&busy, &expected, 1))
        expected = 0;
    shared++; // RACE
    busy = 0;
    return NULL;
}

static void *meddler(void *arg)
{
    busy = 0;
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_create(&c, NULL, meddler, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
