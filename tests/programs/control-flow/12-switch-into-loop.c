// verdict: race-free
// A switch jumps into the middle of a loop; every way round still goes through the lock.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int left = *(int *)arg;
    switch (left % 2) {
        do {
    case 0:
            pthread_mutex_lock(&lock);
            shared += 2; // NORACE
            pthread_mutex_unlock(&lock);
            left--;
    case 1:
            pthread_mutex_lock(&lock);
            shared -= 1; // NORACE
            pthread_mutex_unlock(&lock);
            left--;
        } while (left > 0);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int two = 2, three = 3;
    pthread_create(&a, NULL, worker, &two);
    pthread_create(&b, NULL, worker, &three);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
