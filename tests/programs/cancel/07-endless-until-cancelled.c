// verdict: race-free
// unbounded
// An endless worker with a cancellation point; main reads its count after the join.
#include <pthread.h>

static unsigned rounds;

static void *worker(void *arg)
{
    for (;;) {
        rounds++; // NORACE
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
    return rounds > 0 ? 0 : 1; // NORACE
}
