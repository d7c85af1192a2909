// verdict: race-free
// Only the counts are locked; a slot is filled or emptied outside by the side that owns it.
#include <pthread.h>

static int slots[2];
static int filled, sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg)
{
    for (int i = 0; i < 2; i++) {
        slots[i] = i + 1; // NORACE
        pthread_mutex_lock(&lock);
        filled = i + 1; // NORACE
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
        while (filled <= i) // NORACE
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        sum += slots[i]; // NORACE
    }
    pthread_join(thread, NULL);
    return sum == 3 ? 0 : 1;
}
