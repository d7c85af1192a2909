// verdict: race
// A goto jumps over the lock and lands before the access.
#include <pthread.h>
#include <stdint.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int fast = (int)(intptr_t)arg;
    if (fast)
        goto update;
    pthread_mutex_lock(&lock);
update:
    shared++; // RACE
    if (!fast)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, (void *)(intptr_t)0);
    pthread_create(&b, NULL, worker, (void *)(intptr_t)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
