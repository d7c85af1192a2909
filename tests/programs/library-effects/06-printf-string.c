// verdict: race
// printf with %s reads the bytes of the text that the other thread changes.
#include <pthread.h>
#include <stdio.h>

static char status[] = "idle";

static void *worker(void *arg)
{
    status[0] = 'b'; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    printf("%d: %s\n", 1, status); // RACE
    pthread_join(thread, NULL);
    return 0;
}
