// verdict: race
// pthread_exit ends only the main thread; the other two go on and race.
#include <pthread.h>

static int shared;

static void *worker(void *arg)
{
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    shared = 1; // NORACE
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_exit(NULL);
}
