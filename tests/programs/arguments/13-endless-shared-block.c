// verdict: race
// unbounded
// As 12, but the dispatcher reuses one block for all its threads.
#include <pthread.h>
#include <stdlib.h>

static void *serve(void *arg)
{
    int *request = arg;
    *request += 1; // RACE
    return NULL;
}

int main(void)
{
    int *request = malloc(sizeof *request);
    *request = 0; // NORACE
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, NULL, serve, request);
        pthread_detach(thread);
    }
}
