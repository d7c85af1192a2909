// verdict: race-free
// A scoped guard: the compiler calls the unlock wrapper at the end of the block.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t *hold(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    return mutex;
}

static void drop(pthread_mutex_t **guard)
{
    pthread_mutex_unlock(*guard);
}

static void *worker(void *arg)
{
    __attribute__((cleanup(drop))) pthread_mutex_t *guard = hold(&lock);
    if (shared > 5) // NORACE
        return NULL;
    shared++; // NORACE
    return guard;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
