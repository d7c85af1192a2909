// verdict: race
// A library call that fails sets errno, whatever the program stored there before.
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

int shared;

void *work(void *arg)
{
    shared = 1; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    errno = 0;
    if (close(-1) == -1 && errno != 0)
        shared = 2; // RACE
    pthread_join(t, NULL);
    return 0;
}
