// verdict: race-free
// Lock and unlock hang on the same condition as the access: no path reaches it unlocked.
#include <pthread.h>
#include <stdint.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int writes = (int)(intptr_t)arg;
    int local = 0;
    if (writes)
        pthread_mutex_lock(&lock);
    local += 5;
    if (writes)
        total += local; // NORACE
    if (writes)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)(i % 2));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return total;
}
