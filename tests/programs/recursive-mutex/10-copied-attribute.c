// verdict: race
// A copy of an attribute makes the same kind of mutex.
#include <pthread.h>

pthread_mutex_t lock;
int shared;

void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&lock);
    shared = 1; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_mutexattr_t first, copy;
    pthread_mutexattr_init(&first);
    pthread_mutexattr_settype(&first, PTHREAD_MUTEX_RECURSIVE);
    copy = first;
    pthread_mutex_init(&lock, &copy);
    pthread_create(&t, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    shared = 2; // RACE
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    return 0;
}
