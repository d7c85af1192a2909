// want: race unknown
// A descriptor below 0 is refused with EBADF.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

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
    int fd = dup(-1);
    pthread_create(&t, NULL, worker, NULL);
    if (fd == -1 && errno == EBADF)
        x = 2;
    pthread_join(t, NULL);
    return 0;
}
