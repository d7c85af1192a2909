// verdict: race
// As 08 with three threads: two may fail at once and both count a miss.
#include <pthread.h>

static int misses;
static int hits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    if (pthread_mutex_trylock(&lock) == 0) {
        hits++; // NORACE
        pthread_mutex_unlock(&lock);
    } else {
        misses++; // RACE
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return hits + misses == 3 ? 0 : 1;
}
