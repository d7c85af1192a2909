// verdict: race
// As 09, but the test and the set are two atomic steps: both threads may pass the test.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static int datum;

static void *worker(void *arg)
{
    if (atomic_load(&taken) == 0) {
        atomic_store(&taken, 1);
        datum++; // RACE
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return datum;
}
