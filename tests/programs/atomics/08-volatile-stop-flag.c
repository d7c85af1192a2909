// verdict: race
// unbounded
// A volatile stop flag is a race, even if it works on most machines.
#include <pthread.h>

static volatile int stop;

static void *worker(void *arg)
{
    unsigned *rounds = arg;
    while (!stop) // RACE
        (*rounds)++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    unsigned rounds = 0;
    pthread_create(&thread, NULL, worker, &rounds);
    stop = 1; // RACE
    pthread_join(thread, NULL);
    return rounds > 0 ? 0 : 1; // NORACE
}
