// verdict: race-free
// rand() is never negative, and read() returns no more than what was asked for.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int shared;

static void *worker(void *arg)
{
    shared = 1; // NORACE
    return NULL;
}

int main(void)
{
    char buffer[4];
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (rand() < 0 || read(0, buffer, sizeof buffer) > 4)
        shared = 2; // NORACE
    pthread_join(thread, NULL);
    return 0;
}
