// verdict: race-free
// unbounded
// It is enough that the exchange that succeeds acquires.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int owner;
static int count;

static void *worker(void *argument)
{
    int nobody = 0;
    while (!atomic_compare_exchange_strong_explicit(&owner, &nobody, 1, memory_order_acquire,
                                                    memory_order_relaxed))
        nobody = 0;
    count++; // NORACE
    atomic_store_explicit(&owner, 0, memory_order_release);
    return argument;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, worker, NULL);
    worker(NULL);
    pthread_join(other, NULL);
    return count == 2 ? 0 : 1;
}
