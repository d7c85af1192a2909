// verdict: race
// unbounded
// The turn is seen, but nothing is acquired.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint next, serving;
static int count;

static void *worker(void *argument)
{
    unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_relaxed) != mine)
        ;
    count++; // RACE
    atomic_fetch_add_explicit(&serving, 1, memory_order_release);
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
