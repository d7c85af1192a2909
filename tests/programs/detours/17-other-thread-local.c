// verdict: race
// A thread writes the thread-local variable of its brother, and still has its own unchanged.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int mine;
static int *published;
static int shared;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    if (!published) {
        published = &mine; // NORACE
    } else {
        *published = 5; // NORACE
        if (mine == 0)
            shared++; // RACE
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *other(void *arg)
{
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    pthread_create(&threads[2], NULL, other, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
