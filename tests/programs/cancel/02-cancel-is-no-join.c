// verdict: race
// After pthread_cancel the worker may still be running.
#include <pthread.h>

static int steps;

static void *worker(void *arg)
{
    for (int i = 0; i < 3; i++) {
        steps++; // RACE
        pthread_testcancel();
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
    int seen = steps; // RACE
    pthread_join(thread, NULL);
    return seen;
}
