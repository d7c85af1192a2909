// verdict: race-free
// tryrdlock and trywrlock, with the result tested before the access.
#include <pthread.h>

static int value;
static int seen;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg)
{
    if (pthread_rwlock_tryrdlock(&lock) == 0) {
        seen = value; // NORACE
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

static void *writer(void *arg)
{
    if (pthread_rwlock_trywrlock(&lock) == 0) {
        value++; // NORACE
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_create(&c, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return seen + value;
}
