// verdict: race
// The writer locks, the reader thinks a single read needs no lock.
#include <pthread.h>

static int level;
static int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sensor(void *arg)
{
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&lock);
        level = i; // RACE
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sensor, NULL);
    seen = level; // RACE
    pthread_join(thread, NULL);
    return seen;
}
