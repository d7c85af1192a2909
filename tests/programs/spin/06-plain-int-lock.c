// verdict: race
// unbounded
// A home-made lock on a plain int: neither the lock nor what it guards is safe.
#include <pthread.h>

static int locked;
static int counter;

static void *worker(void *arg)
{
    while (locked) // RACE
        ;
    locked = 1; // RACE
    counter++; // RACE
    locked = 0; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
