// want: race unknown
// The old cancel state is written, and is what was set before.
#define _GNU_SOURCE
#include <pthread.h>

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
    int old = -1, o2 = -1; pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old); pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &o2);
    pthread_create(&t, NULL, worker, NULL);
    if (old == PTHREAD_CANCEL_ENABLE && o2 == PTHREAD_CANCEL_DISABLE)
        x = 2;
    pthread_join(t, NULL);
    return 0;
}
