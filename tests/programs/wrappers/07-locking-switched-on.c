// verdict: race-free
// As 06 with the setting on before the first thread starts.
#include <pthread.h>

static int threadsafe;
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(void)
{
    if (threadsafe) // NORACE
        pthread_mutex_lock(&lock);
}

static void leave(void)
{
    if (threadsafe) // NORACE
        pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    enter();
    shared++; // NORACE
    leave();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    threadsafe = 1; // NORACE
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
