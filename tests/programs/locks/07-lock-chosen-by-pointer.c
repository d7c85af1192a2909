// verdict: race
// A pointer selects the mutex; the two threads get different ones for the same datum.
#include <pthread.h>

static int shared;
static pthread_mutex_t red = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t blue = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    pthread_mutex_t *mine = arg;
    pthread_mutex_lock(mine);
    shared++; // RACE
    pthread_mutex_unlock(mine);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &red);
    pthread_create(&b, NULL, worker, &blue);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
