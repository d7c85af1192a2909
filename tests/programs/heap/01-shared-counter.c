// verdict: race
// Two threads increment one malloc'd counter.
#include <pthread.h>
#include <stdlib.h>

static int *counter;

static void *worker(void *arg)
{
    (*counter)++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    counter = malloc(sizeof *counter); // NORACE
    *counter = 0; // NORACE
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int result = *counter;
    free(counter); // NORACE
    return result;
}
