// verdict: race-free
// The recursive kind comes from a static initializer, not from attributes.
#define _GNU_SOURCE
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    shared++; // NORACE
    pthread_mutex_unlock(&lock);
    shared++; // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
