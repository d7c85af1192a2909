// verdict: race-free
// Whoever gets the 0 out of the exchange owns the datum; the other one leaves.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static int datum;

static void *worker(void *arg)
{
    if (atomic_exchange(&taken, 1) == 0)
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
    return datum == 1 ? 0 : 1; // NORACE
}
