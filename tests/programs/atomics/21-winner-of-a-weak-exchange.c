// verdict: race-free
// At most one thread wins, perhaps none: a spurious failure makes no second winner.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int owner;
static int datum;

static void *worker(void *arg)
{
    int nobody = 0;
    if (atomic_compare_exchange_weak(&owner, &nobody, 1))
        datum++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return datum; // NORACE
}
