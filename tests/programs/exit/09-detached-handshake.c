// verdict: race-free
// A detached thread cannot be joined; a flag under the lock tells main that it is done.
#include <pthread.h>

static int result, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *worker(void *arg)
{
    result = 6; // NORACE
    pthread_mutex_lock(&lock);
    done = 1; // NORACE
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attr, worker, NULL);
    pthread_mutex_lock(&lock);
    while (!done) // NORACE
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return result == 6 ? 0 : 1; // NORACE
}
