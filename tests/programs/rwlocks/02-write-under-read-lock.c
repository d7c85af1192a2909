// verdict: race
// Both threads write while they hold only the read lock.
#include <pthread.h>

static int hits;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *lookup(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    hits++; // RACE
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, lookup, NULL);
    pthread_create(&b, NULL, lookup, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return hits;
}
