// verdict: race
// The block is complete before it is published, but the pointer itself is a plain variable.
#include <pthread.h>
#include <stdlib.h>

static int *published;
static int seen;

static void *consumer(void *arg)
{
    int *block = published; // RACE
    if (block)
        seen = *block;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, consumer, NULL);
    int *block = malloc(sizeof *block);
    *block = 5;
    published = block; // RACE
    pthread_join(thread, NULL);
    free(block); // NORACE
    return seen;
}
