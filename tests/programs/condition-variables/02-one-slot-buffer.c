// verdict: race-free
// Producer and consumer share one slot; both sides wait for their state of it.
#include <pthread.h>

static int slot, full, sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg)
{
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&lock);
        while (full)
            pthread_cond_wait(&changed, &lock);
        slot = i; // NORACE
        full = 1; // NORACE
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (!full) // NORACE
            pthread_cond_wait(&changed, &lock);
        sum += slot; // NORACE
        full = 0; // NORACE
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return sum == 3 ? 0 : 1;
}
