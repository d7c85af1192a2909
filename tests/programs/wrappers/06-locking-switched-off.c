// verdict: race
// The wrapper locks only if a setting says so, and main never sets it.
#include <pthread.h>

static int threadsafe;
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(void)
{
    if (threadsafe) // NORACE
        pthread_mutex_lock(&lock);
}

static void leave(void)
{
    if (threadsafe) // NORACE
        pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    enter();
    shared++; // RACE
    leave();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    threadsafe = 0;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
