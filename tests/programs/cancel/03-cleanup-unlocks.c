// verdict: race-free
// The worker is cancelled inside the wait; its cleanup handler writes and unlocks the mutex.
#include <pthread.h>

static int pending, cleaned;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void clean_up(void *arg)
{
    cleaned = 1; // NORACE
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean_up, NULL);
    while (!pending) // NORACE
        pthread_cond_wait(&changed, &lock);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
    pthread_mutex_lock(&lock);
    int seen = cleaned; // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return seen;
}
