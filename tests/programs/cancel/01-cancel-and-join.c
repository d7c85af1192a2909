// verdict: race-free
// Main cancels the worker, joins it and only then looks at what it left.
#include <pthread.h>

static int steps;

static void *worker(void *arg)
{
    for (int i = 0; i < 3; i++) {
        steps++; // NORACE
        pthread_testcancel();
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    return steps > 0 ? 0 : 1; // NORACE
}
