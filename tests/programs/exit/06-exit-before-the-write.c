// verdict: race-free
// The thread ends the whole process before it reaches its write.
#include <pthread.h>
#include <stdlib.h>

static int shared;

static void give_up(void)
{
    exit(0);
}

static void *worker(void *arg)
{
    give_up();
    shared = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    shared = 2; // NORACE
    pthread_join(thread, NULL);
    return shared;
}
