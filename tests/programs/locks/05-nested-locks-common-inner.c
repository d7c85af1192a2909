// verdict: race-free
// One thread holds two mutexes, the other only the inner one: the inner one is common.
#include <pthread.h>

static int shared;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;

static void *both(void *arg)
{
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    shared += 2; // NORACE
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
    return NULL;
}

static void *only_inner(void *arg)
{
    pthread_mutex_lock(&inner);
    shared *= 3; // NORACE
    pthread_mutex_unlock(&inner);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, both, NULL);
    pthread_create(&b, NULL, only_inner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared > 0 ? 0 : 1;
}
