// verdict: race
// unbounded
// The flag is cleared in the middle of the section, and once more at its end.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int busy;
static int shared;

static void *worker(void *arg)
{
    while (atomic_exchange(&busy, 1)) {
    }
    shared++; // RACE
    busy = 0;
    shared++; // RACE
    busy = 0;
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
