// verdict: race
// A careful reader and a careful writer, and one reader without any lock.
#include <pthread.h>

static int value;
static int seen[2];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *careful(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    seen[0] = value; // NORACE
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *careless(void *arg)
{
    seen[1] = value; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, careful, NULL);
    pthread_create(&b, NULL, careless, NULL);
    pthread_rwlock_wrlock(&lock);
    value = 1; // RACE
    pthread_rwlock_unlock(&lock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen[0] + seen[1];
}
