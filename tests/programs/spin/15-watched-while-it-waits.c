// verdict: race
// unbounded
// Each look in vain raises a hand first, and the race needs the second hand.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int hand, ready;
static int shared;

static void *waiter(void *arg)
{
    do {
        atomic_store(&hand, 1);
    } while (!atomic_load(&ready));
    shared = 1; // RACE
    return NULL;
}

static void *watcher(void *arg)
{
    while (!atomic_load(&hand))
        ;
    atomic_store(&hand, 0);
    while (!atomic_load(&hand))
        ;
    atomic_store(&ready, 1);
    shared = 2; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, watcher, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
