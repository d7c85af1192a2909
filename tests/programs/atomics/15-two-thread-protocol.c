// verdict: race-free
// unbounded
// Mutual exclusion for two from atomic wishes and a polite turn variable.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wish[2];
static atomic_int turn;
static int shared;

static void *worker(void *arg)
{
    int me = *(int *)arg, other = 1 - me;
    atomic_store(&wish[me], 1);
    atomic_store(&turn, other);
    while (atomic_load(&wish[other]) && atomic_load(&turn) == other)
        ;
    shared++; // NORACE
    atomic_store(&wish[me], 0);
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
