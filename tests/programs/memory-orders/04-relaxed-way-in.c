// verdict: race
// unbounded
// What was released is not acquired.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int busy;
static int count;

static void lock(void)
{
    while (atomic_exchange_explicit(&busy, 1, memory_order_relaxed))
        ;
}

static void unlock(void)
{
    atomic_store_explicit(&busy, 0, memory_order_release);
}

static void *worker(void *argument)
{
    lock();
    count++; // RACE
    unlock();
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
