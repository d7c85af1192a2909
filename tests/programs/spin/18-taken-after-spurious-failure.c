// verdict: race
// unbounded
// Who fails while the lock looks free believes to have it: only a spurious failure leads there.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int locked;
static int counter;

static void *worker(void *arg)
{
    for (;;) {
        int seen = 0;
        if (atomic_compare_exchange_weak(&locked, &seen, 1))
            break;
        if (seen == 0)
            break;
    }
    counter++; // RACE
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
    return 0;
}
