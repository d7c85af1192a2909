// verdict: race
// A helper releases every level; its caller still believes to hold the mutex.
#define _XOPEN_SOURCE 700
#include <pthread.h>

static int shared;
static pthread_mutex_t lock;

static void release(int levels)
{
    for (int i = 0; i < levels; i++)
        pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    shared += 2; // RACE
    release(2);
    shared -= 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_t a, b;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attr);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
