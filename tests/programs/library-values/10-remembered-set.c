// verdict: race-free
// A set of signals holds what was put in.
#include <pthread.h>
#include <signal.h>

static int shared;

static void *worker(void *arg)
{
    shared = 1; // NORACE
    return NULL;
}

int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (sigismember(&set, SIGINT) || !sigismember(&set, SIGTERM))
        shared = 2; // NORACE
    pthread_join(thread, NULL);
    return 0;
}
