// verdict: race
// Handlers of pthread_atfork run in the thread that forks.
#include <pthread.h>
#include <unistd.h>

int shared;

void prepare(void)
{
    shared = 1; // RACE
}

void *work(void *arg)
{
    shared = 2; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_atfork(prepare, NULL, NULL);
    pthread_create(&t, NULL, work, NULL);
    if (fork() == 0)
        _exit(0);
    pthread_join(t, NULL);
    return 0;
}
