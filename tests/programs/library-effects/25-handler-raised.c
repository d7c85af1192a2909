// verdict: race
// raise runs the handler of sigaction before it returns.
#include <pthread.h>
#include <signal.h>
#include <string.h>

int shared;

void handle(int number)
{
    shared = number; // RACE
}

void *work(void *arg)
{
    shared = 1; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&t, NULL, work, NULL);
    raise(SIGUSR1);
    pthread_join(t, NULL);
    return 0;
}
