// verdict: race-free
// unbounded
// Two endless servers share a job counter, always under the mutex.
#include <pthread.h>

static unsigned jobs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *server(void *arg)
{
    while (1) {
        pthread_mutex_lock(&lock);
        jobs++; // NORACE
        if (jobs > 1000)
            jobs = 0; // NORACE
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
