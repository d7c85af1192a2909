// verdict: race
// unbounded
// Each round joins the thread of the round before: two are alive at a time.
#include <pthread.h>

static unsigned datum;

static void *worker(void *arg)
{
    datum++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t previous, current;
    pthread_create(&previous, NULL, worker, NULL);
    for (;;) {
        pthread_create(&current, NULL, worker, NULL);
        pthread_join(previous, NULL);
        previous = current;
    }
}
