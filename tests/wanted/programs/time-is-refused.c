// want: race unknown
// A time with too many nanoseconds is refused with EINVAL.
#define _GNU_SOURCE
#include <errno.h>
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
    struct timespec v = {0, 2000000000L};
    pthread_create(&t, NULL, worker, NULL);
    if (nanosleep(&v, NULL) == -1 && errno == EINVAL)
        x = 2;
    pthread_join(t, NULL);
    return 0;
}
