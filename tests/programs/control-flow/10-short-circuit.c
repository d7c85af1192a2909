// verdict: race-free
// Short-circuit operators and the comma keep the access behind a successful lock.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int done = pthread_mutex_trylock(&lock) == 0 && (shared++, 1); // NORACE
    done ? pthread_mutex_unlock(&lock) : 0;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared; // NORACE
}
