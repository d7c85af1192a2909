// verdict: race-free
// unbounded
// Numbers handed out by a loop around a weak exchange: each is given once.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint next;
static int slots[2];

static void *worker(void *arg)
{
    unsigned mine = atomic_load(&next);
    while (!atomic_compare_exchange_weak(&next, &mine, mine + 1))
        ;
    if (mine < 2)
        slots[mine]++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return slots[0] + slots[1] - 2; // NORACE
}
