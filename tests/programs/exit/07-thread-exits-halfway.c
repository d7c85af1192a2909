// verdict: race-free
// pthread_exit inside a callee keeps the thread away from the unprotected write.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void stop_if(int condition)
{
    if (condition)
        pthread_exit(NULL);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    shared++; // NORACE
    pthread_mutex_unlock(&lock);
    stop_if(arg == NULL);
    shared++; // NORACE
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
