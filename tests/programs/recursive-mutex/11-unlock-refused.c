// verdict: race
// An error-checking mutex refuses to be unlocked by a thread that does not hold it.
#include <pthread.h>

pthread_mutex_t lock;
int shared;

void *work(void *arg)
{
    shared = 1; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &kind);
    pthread_create(&t, NULL, work, NULL);
    if (pthread_mutex_unlock(&lock) != 0)
        shared = 2; // RACE
    pthread_join(t, NULL);
    return 0;
}
