// verdict: race
// The wrapper that should await all workers returns after the first.
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    total++; // RACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int await_all(pthread_t *threads, int count)
{
    for (int i = 0; i < count; i++)
        return pthread_join(threads[i], NULL);
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    await_all(threads, 2);
    return total; // RACE
}
