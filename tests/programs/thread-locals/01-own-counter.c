// verdict: race-free
// A __thread variable: same name, one object per thread.
#include <pthread.h>

static __thread int calls;
static int totals[2];

static void tick(void)
{
    calls++; // NORACE
}

static void *worker(void *arg)
{
    tick();
    tick();
    *(int *)arg = calls; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &totals[0]);
    pthread_create(&b, NULL, worker, &totals[1]);
    tick();
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return totals[0] + totals[1] + calls == 5 ? 0 : 1; // NORACE
}
