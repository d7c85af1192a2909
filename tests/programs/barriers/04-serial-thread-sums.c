// verdict: race-free
// The thread that the barrier elects does the sum, a second barrier publishes it.
#define _XOPEN_SOURCE 700
#include <pthread.h>

static int parts[2];
static int total;
static int seen[2];
static pthread_barrier_t barrier;

static void *worker(void *arg)
{
    int me = *(int *)arg;
    parts[me] = me + 5; // NORACE
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        total = parts[0] + parts[1]; // NORACE
    pthread_barrier_wait(&barrier);
    seen[me] = total; // NORACE
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
    return seen[0] == seen[1] ? 0 : 1;
}
