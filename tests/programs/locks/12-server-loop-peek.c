// verdict: race
// unbounded
// The loop condition of each endless server reads the counter outside the lock.
#include <pthread.h>

static unsigned jobs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *server(void *arg)
{
    while (jobs != 1000) { // RACE
        pthread_mutex_lock(&lock);
        jobs += 3; // RACE
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, server, NULL);
    pthread_create(&b, NULL, server, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
