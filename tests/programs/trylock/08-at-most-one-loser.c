// verdict: race-free
// Two threads, one try each: who fails was beaten by the other, so only one can count a miss.
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
        misses++; // NORACE
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return hits + misses == 2 ? 0 : 1;
}
