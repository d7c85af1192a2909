// verdict: race
// An error-checking mutex refuses the second lock: the first unlock already releases it.
#define _XOPEN_SOURCE 700
#include <pthread.h>

static int shared;
static pthread_mutex_t lock;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    shared++; // RACE
    pthread_mutex_unlock(&lock);
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_t a, b;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attr);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
