// verdict: race
// unbounded
// Each thread holds the lock of element i and also touches the element after it.
#include <pthread.h>

static int value[3];
static pthread_mutex_t lock[3] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *updater(void *arg)
{
    for (unsigned i = 0;; i = (i + 1) % 3) {
        pthread_mutex_lock(&lock[i]);
        value[i] = 1; // RACE
        value[(i + 1) % 3] = 0; // RACE
        pthread_mutex_unlock(&lock[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, updater, NULL);
    pthread_create(&b, NULL, updater, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
