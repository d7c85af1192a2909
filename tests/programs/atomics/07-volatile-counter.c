// verdict: race
// volatile is not atomic.
#include <pthread.h>

static volatile int counter;

static void *worker(void *arg)
{
    for (int i = 0; i < 2; i++)
        counter = counter + 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter; // NORACE
}
