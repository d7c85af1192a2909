// verdict: race
// unbounded
// The joined thread never returns by itself; what comes after the join is reached all the same.
#include <pthread.h>
#include <unistd.h>

static int shared;

static void *idle(void *arg)
{
    while (1)
        sleep(1);
    return NULL;
}

static void *worker(void *arg)
{
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread, other;
    pthread_create(&thread, NULL, idle, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    pthread_create(&other, NULL, worker, NULL);
    shared++; // RACE
    pthread_join(other, NULL);
    return 0;
}
