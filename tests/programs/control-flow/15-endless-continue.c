// verdict: race
// unbounded
// Every fourth round resets the sum and continues before the lock is taken.
#include <pthread.h>

static unsigned shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    for (unsigned i = 0;; i++) {
        if (i % 4 == 3) {
            shared = 0; // RACE
            continue;
        }
        pthread_mutex_lock(&lock);
        shared += i; // RACE
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
    return 0;
}
