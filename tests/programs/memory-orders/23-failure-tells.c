// verdict: race
// An exchange that fails is a relaxed read here: it acquires nothing.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int data;

static void *writer(void *argument)
{
    data = 1; // RACE
    atomic_store_explicit(&ready, 1, memory_order_release);
    return argument;
}

int main(void)
{
    pthread_t other;
    int seen = 1, expected = 0;
    pthread_create(&other, NULL, writer, NULL);
    if (!atomic_compare_exchange_strong_explicit(&ready, &expected, 2, memory_order_acq_rel,
                                                 memory_order_relaxed))
        seen = data; // RACE
    pthread_join(other, NULL);
    return seen == 1 ? 0 : 1;
}
