// verdict: race-free
// printf with %p prints the address and leaves the bytes alone.
#include <pthread.h>
#include <stdio.h>

static char status[] = "idle";

static void *worker(void *arg)
{
    status[0] = 'b'; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    printf("status is at %p\n", (void *)status); // NORACE
    pthread_join(thread, NULL);
    printf("status is %s\n", status); // NORACE
    return 0;
}
