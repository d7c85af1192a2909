// verdict: race-free
// The datum is written before the flag is set under the lock; the reader waits for the flag.
#include <pthread.h>

static int datum, ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg)
{
    datum = 42; // NORACE
    pthread_mutex_lock(&lock);
    ready = 1; // NORACE
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&lock);
    while (!ready) // NORACE
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    int seen = datum; // NORACE
    pthread_join(thread, NULL);
    return seen == 42 ? 0 : 1;
}
