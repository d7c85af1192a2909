// verdict: race
// The cleanup handler runs in the cancelled thread and writes without a lock.
#include <pthread.h>

static int state = 1;

static void mark_cancelled(void *arg)
{
    state = -1; // RACE
}

static void *worker(void *arg)
{
    pthread_cleanup_push(mark_cancelled, NULL);
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
    int seen = state; // RACE
    pthread_join(thread, NULL);
    return seen;
}
