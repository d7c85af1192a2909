// want: race unknown
// A thread is itself.
#define _GNU_SOURCE
#include <pthread.h>
#include <threads.h>

static int x;

static void *worker(void *arg)
{
    (void)arg;
    x = 1;
    return NULL;
}

int main(void)
{
    pthread_t t;
    volatile int u = 0;
    pthread_create(&t, NULL, worker, NULL);
    if (thrd_equal(thrd_current(), thrd_current()) && !u)
        x = 2;
    pthread_join(t, NULL);
    return 0;
}
