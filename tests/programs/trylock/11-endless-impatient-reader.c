// verdict: race
// unbounded
// An impatient reader takes an unlocked look whenever the mutex is busy.
#include <pthread.h>

static int value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        value ^= 1; // RACE
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int last = 0;
    pthread_create(&thread, NULL, writer, NULL);
    while (last < 100) {
        if (pthread_mutex_trylock(&lock) == 0) {
            last += value; // NORACE
            pthread_mutex_unlock(&lock);
        } else {
            last += value; // RACE
        }
    }
    return 0;
}
