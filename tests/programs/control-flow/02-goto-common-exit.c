// verdict: race-free
// All error paths go to one label that unlocks.
#include <pthread.h>

static int stock = 2;
static int failures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *buyer(void *arg)
{
    int wanted = *(int *)arg;
    pthread_mutex_lock(&lock);
    if (wanted <= 0)
        goto fail;
    if (stock < wanted) // NORACE
        goto fail;
    stock -= wanted; // NORACE
    goto out;
fail:
    failures++; // NORACE
out:
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int wanted[3] = {1, 2, -1};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, buyer, &wanted[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return stock + failures > 0 ? 0 : 1;
}
