// verdict: race-free
// Lock and unlock are themselves called through pointers.
#include <pthread.h>

typedef int (*lock_operation)(pthread_mutex_t *);

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const lock_operation enter = pthread_mutex_lock;
static const lock_operation leave = pthread_mutex_unlock;

static void *worker(void *arg)
{
    enter(&lock);
    counter++; // NORACE
    leave(&lock);
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
