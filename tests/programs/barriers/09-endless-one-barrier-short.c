// verdict: race
// unbounded
// As 08 with only one barrier per step.
#define _XOPEN_SOURCE 700
#include <pthread.h>

static int cells[2] = {1, 0};
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
    int me = *(int *)arg;
    for (;;) {
        int other = cells[1 - me]; // RACE
        pthread_barrier_wait(&barrier);
        cells[me] = !other; // RACE
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int zero = 0, one = 1;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&a, NULL, worker, &zero);
    pthread_create(&b, NULL, worker, &one);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
