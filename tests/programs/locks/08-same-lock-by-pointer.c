// verdict: race-free
// As 07, but both pointers lead to one mutex.
#include <pthread.h>

static int shared;
static pthread_mutex_t only = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *alias = &only;

static void *worker(void *arg)
{
    pthread_mutex_t *mine = arg;
    pthread_mutex_lock(mine);
    shared++; // NORACE
    pthread_mutex_unlock(mine);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &only);
    pthread_create(&b, NULL, worker, alias);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
