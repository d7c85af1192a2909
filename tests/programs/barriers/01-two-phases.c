// verdict: race-free
// Everyone writes its own cell, waits at the barrier, then reads the other's.
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdint.h>

static int cells[2];
static int sums[2];
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
    intptr_t me = (intptr_t)arg;
    cells[me] = (int)me + 1; // NORACE
    pthread_barrier_wait(&barrier);
    sums[me] = cells[0] + cells[1]; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&a, NULL, worker, (void *)(intptr_t)0);
    pthread_create(&b, NULL, worker, (void *)(intptr_t)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return sums[0] + sums[1] == 6 ? 0 : 1;
}
