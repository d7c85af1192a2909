// verdict: race-free
// Tests under the read lock, then lets go and writes under the write lock: stale, but no race.
#include <pthread.h>

static int cached;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *fill(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    int empty = cached == 0; // NORACE
    pthread_rwlock_unlock(&lock);
    if (empty) {
        pthread_rwlock_wrlock(&lock);
        cached = 99; // NORACE
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, fill, NULL);
    pthread_create(&b, NULL, fill, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return cached == 99 ? 0 : 1;
}
