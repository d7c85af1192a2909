// verdict: race-free
// unbounded
// A dispatcher hands each new thread a fresh block that nobody else ever touches.
#include <pthread.h>
#include <stdlib.h>

static void *serve(void *arg)
{
    int *request = arg;
    *request += 1; // NORACE
    free(request); // NORACE
    return NULL;
}

int main(void)
{
    for (int number = 0;; number = (number + 1) % 10) {
        pthread_t thread;
        int *request = malloc(sizeof *request);
        *request = number; // NORACE
        pthread_create(&thread, NULL, serve, request);
        pthread_detach(thread);
    }
}
