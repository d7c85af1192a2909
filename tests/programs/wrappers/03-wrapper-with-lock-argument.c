// verdict: race
// The wrapper locks what it is given; the callers give different mutexes.
#include <pthread.h>

static int shared;
static pthread_mutex_t read_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;

static void with_lock(pthread_mutex_t *lock, int amount)
{
    pthread_mutex_lock(lock);
    shared += amount; // RACE
    pthread_mutex_unlock(lock);
}

static void *reader(void *arg)
{
    with_lock(&read_lock, 0);
    return NULL;
}

static void *writer(void *arg)
{
    with_lock(&write_lock, 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
