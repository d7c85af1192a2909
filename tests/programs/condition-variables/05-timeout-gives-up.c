// verdict: race-free
// As 04, but after a time-out the reader keeps its hands off the datum.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

static int datum, ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg)
{
    datum = 42; // NORACE
    pthread_mutex_lock(&lock);
    ready = 1; // NORACE
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct timespec until = {1, 0};
    int timed_out = 0, seen = 0;
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&lock);
    while (!ready && !timed_out) // NORACE
        timed_out = pthread_cond_timedwait(&changed, &lock, &until) != 0;
    int arrived = ready; // NORACE
    pthread_mutex_unlock(&lock);
    if (arrived)
        seen = datum; // NORACE
    pthread_join(thread, NULL);
    return seen;
}
