// verdict: race
// A break leaves the do-while block before the lock is taken; the write after it runs anyway.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int locked = 0;
    do {
        if (arg == NULL)
            break;
        pthread_mutex_lock(&lock);
        locked = 1;
    } while (0);
    shared++; // RACE
    if (locked)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &shared);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
