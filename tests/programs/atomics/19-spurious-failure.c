// verdict: race
// A weak exchange may fail though it finds what it expects, and both threads may see that.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int slots[2];
static int failures;

static void *worker(void *arg)
{
    int expected = 0;
    if (!atomic_compare_exchange_weak((atomic_int *)arg, &expected, 1))
        failures++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &slots[0]);
    pthread_create(&b, NULL, worker, &slots[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
