// verdict: race-free
// unbounded
// A lock made from __sync_lock_test_and_set and __sync_lock_release.
#include <pthread.h>

static int counter;
static int locked;

static void acquire(int *word)
{
    while (__sync_lock_test_and_set(word, 1))
        ;
}

static void release(int *word)
{
    __sync_lock_release(word); // NORACE
}

static void *worker(void *arg)
{
    acquire(&locked);
    counter++; // NORACE
    release(&locked);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
