// verdict: race
// unbounded
// As 15, but each thread first looks and then wishes: both may get in.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int inside[2];
static int shared;

static void *worker(void *arg)
{
    int me = *(int *)arg, other = 1 - me;
    while (atomic_load(&inside[other]))
        ;
    atomic_store(&inside[me], 1);
    shared++; // RACE
    atomic_store(&inside[me], 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int zero = 0, one = 1;
    pthread_create(&a, NULL, worker, &zero);
    pthread_create(&b, NULL, worker, &one);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
