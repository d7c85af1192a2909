// verdict: race-free
// Relaxed counters are atomic, and joins order the rest.
#include <pthread.h>
#include <stdatomic.h>

static atomic_long hits;
static long total;

static void *worker(void *argument)
{
    atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed); // NORACE
    return argument;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    total = atomic_load_explicit(&hits, memory_order_relaxed); // NORACE
    return total == 2 ? 0 : 1;
}
