// verdict: race-free
// The result is stored, other work is done, and only then it decides.
#include <errno.h>
#include <pthread.h>

static int counter;
static int work[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int *mine = arg;
    int result = pthread_mutex_trylock(&lock);
    *mine += 3; // NORACE
    if (result == EBUSY)
        return NULL;
    counter += *mine; // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &work[0]);
    pthread_create(&b, NULL, worker, &work[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
