// verdict: race-free
// The unlocked branch would need a number whose square ends in 2.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    unsigned number = *(unsigned *)arg;
    if (number * number % 10u == 2u)
        shared = 0; // NORACE
    pthread_mutex_lock(&lock);
    shared++; // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    unsigned numbers[3] = {4, 7, 9};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, &numbers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return shared;
}
