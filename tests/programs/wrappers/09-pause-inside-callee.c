// verdict: race
// A helper called in the critical section gives up the mutex and does not take it again.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void pause_work(int resume)
{
    pthread_mutex_unlock(&lock);
    if (resume)
        pthread_mutex_lock(&lock);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    shared++; // RACE
    pause_work(1);
    shared++; // RACE
    pause_work(0);
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
