// verdict: race-free
// Each thread has an errno of its own.
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

void *work(void *arg)
{
    errno = 0; // NORACE
    close(-1);
    return errno ? arg : NULL; // NORACE
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    errno = 0; // NORACE
    close(-1);
    int seen = errno; // NORACE
    pthread_join(t, NULL);
    return seen == 0;
}
