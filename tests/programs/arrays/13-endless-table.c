// verdict: race-free
// unbounded
// Endless updates of arbitrary elements, each under the element's own lock.
#include <pthread.h>

static int value[3];
static pthread_mutex_t lock[3] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *updater(void *arg)
{
    unsigned seed = *(unsigned *)arg;
    for (;;) {
        seed = seed * 5u + 3u;
        unsigned i = seed % 3u;
        pthread_mutex_lock(&lock[i]);
        value[i] ^= 1; // NORACE
        pthread_mutex_unlock(&lock[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned one = 1, two = 2;
    pthread_create(&a, NULL, updater, &one);
    pthread_create(&b, NULL, updater, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
