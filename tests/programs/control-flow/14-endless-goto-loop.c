// verdict: race-free
// unbounded
// Endless loops made of labels and gotos, with the lock held across a jump.
#include <pthread.h>

static unsigned shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
again:
    pthread_mutex_lock(&lock);
    if (shared % 2) // NORACE
        goto odd;
    shared += 3; // NORACE
    goto release;
odd:
    shared += 1; // NORACE
release:
    pthread_mutex_unlock(&lock);
    goto again;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
