// verdict: race
// A time-out of timedlock goes unnoticed: the deadline has long passed when it is called.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    struct timespec past = {0, 0};
    int result = pthread_mutex_timedlock(&lock, &past);
    counter++; // RACE
    if (result == 0)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
