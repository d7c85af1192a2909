// verdict: race
// A function registered before any thread exists runs while one is still there.
#include <pthread.h>
#include <stdlib.h>

static int shared;

static void farewell(void)
{
    shared++; // RACE
}

static void *worker(void *arg)
{
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    atexit(farewell);
    pthread_create(&thread, NULL, worker, NULL);
    return 0;
}
