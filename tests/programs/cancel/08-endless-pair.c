// verdict: race
// unbounded
// Two endless workers race until main cancels both.
#include <pthread.h>

static unsigned rounds;

static void *worker(void *arg)
{
    for (;;) {
        rounds++; // RACE
        pthread_testcancel();
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_cancel(a);
    pthread_cancel(b);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return rounds > 0 ? 0 : 1; // NORACE
}
