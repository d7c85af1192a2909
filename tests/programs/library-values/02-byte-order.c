// verdict: race
// On a little-endian machine the network's order is the other one, so the branch is taken.
#include <arpa/inet.h>
#include <pthread.h>

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
    if (htons(1) == 256)
        shared = 2; // RACE
    pthread_join(thread, NULL);
    return 0;
}
