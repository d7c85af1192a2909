// verdict: race-free
// Two buffers: in each step the threads read one and write the other, then swap.
#define _XOPEN_SOURCE 700
#include <pthread.h>

static int buffer[2][2] = {{1, 2}, {0, 0}};
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
    int me = *(int *)arg;
    for (int step = 0; step < 2; step++) {
        int *from = buffer[step % 2], *to = buffer[(step + 1) % 2];
        to[me] = from[0] + from[1]; // NORACE
        pthread_barrier_wait(&barrier);
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
    return buffer[0][0] == 6 ? 0 : 1; // NORACE
}
