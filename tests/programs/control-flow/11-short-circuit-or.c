// verdict: race
// As 10 with the wrong operator: the write runs exactly when trylock failed.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *holder(void *arg)
{
    pthread_mutex_lock(&lock);
    shared = 1; // RACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *confused(void *arg)
{
    int got = pthread_mutex_trylock(&lock) == 0 || (shared = 0, 0); // RACE
    if (got)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, holder, NULL);
    pthread_create(&b, NULL, confused, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
