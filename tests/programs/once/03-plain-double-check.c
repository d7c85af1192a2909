// verdict: race
// Double-checked initialisation on a plain flag: the first check is not under the lock.
#include <pthread.h>

static int value, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    if (!done) { // RACE
        pthread_mutex_lock(&lock);
        if (!done) { // NORACE
            value = 5;
            done = 1; // RACE
        }
        pthread_mutex_unlock(&lock);
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
    return value;
}
