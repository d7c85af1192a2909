// verdict: race
// Output may fail: nobody promises that there is room for it.
#include <pthread.h>
#include <stdio.h>

static int shared;

static void *worker(void *arg)
{
    shared = 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (fputs("ready\n", stdout) == EOF)
        shared = 2; // RACE
    pthread_join(thread, NULL);
    return 0;
}
