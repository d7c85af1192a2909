// verdict: race
// unbounded
// Reading the table under the read lock is fine, counting the lookups there is not.
#include <pthread.h>

static int table[4] = {4, 3, 2, 1};
static unsigned lookups;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg)
{
    unsigned key = 0;
    for (;;) {
        pthread_rwlock_rdlock(&lock);
        key = (unsigned)table[key % 4]; // NORACE
        lookups++; // RACE
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_rwlock_wrlock(&lock);
    table[0] = 2; // NORACE
    pthread_rwlock_unlock(&lock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
