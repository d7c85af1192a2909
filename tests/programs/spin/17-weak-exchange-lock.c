// verdict: race-free
// unbounded
// A lock that spins on a weak exchange: a spurious failure only goes round once more.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int locked;
static int counter;

static void *worker(void *arg)
{
    int expected = 0;
    while (!atomic_compare_exchange_weak(&locked, &expected, 1))
        expected = 0;
    counter++; // NORACE
    atomic_store(&locked, 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter - 2; // NORACE
}
