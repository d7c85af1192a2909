// verdict: race
// unbounded
// A wrapper starts detached workers for ever; they share a statistic without a lock.
#include <pthread.h>

static unsigned served;

static void *serve(void *arg)
{
    served++; // RACE
    return NULL;
}

static void start_detached(void *(*entry)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, entry, NULL);
    pthread_detach(thread);
}

int main(void)
{
    while (1)
        start_detached(serve);
}
