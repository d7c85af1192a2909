// verdict: race-free
// Two readers under the read lock, one writer under the write lock.
#include <pthread.h>

static int value;
static int seen[2];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg)
{
    int *out = arg;
    pthread_rwlock_rdlock(&lock);
    *out = value; // NORACE
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *writer(void *arg)
{
    pthread_rwlock_wrlock(&lock);
    value = 7; // NORACE
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, reader, &seen[0]);
    pthread_create(&b, NULL, writer, NULL);
    pthread_create(&c, NULL, reader, &seen[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return seen[0] + seen[1];
}
