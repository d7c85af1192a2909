// verdict: race
// unbounded
// A counter takes the flag back to 0 without anybody storing a 0.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int busy;
static int shared;

static void *worker(void *arg)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong(&busy, &expected, 1))
        expected = 0;
    busy--;
    shared++; // RACE
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
