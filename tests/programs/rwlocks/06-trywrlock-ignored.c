// verdict: race
// The result of trywrlock only decides about the unlock, not about the write.
#include <pthread.h>

static int log_size;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *appender(void *arg)
{
    int busy = pthread_rwlock_trywrlock(&lock);
    log_size++; // RACE
    if (!busy)
        pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, appender, NULL);
    pthread_create(&b, NULL, appender, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return log_size;
}
