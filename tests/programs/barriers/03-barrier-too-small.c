// verdict: race
// Four threads meet at a barrier for two: it opens before all cells are written.
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdint.h>

static int cells[4];
static int seen[4];
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
    intptr_t me = (intptr_t)arg;
    cells[me] = 1; // RACE
    pthread_barrier_wait(&barrier);
    seen[me] = cells[(me + 1) % 4]; // RACE
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    pthread_barrier_init(&barrier, NULL, 2);
    for (intptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return seen[0];
}
