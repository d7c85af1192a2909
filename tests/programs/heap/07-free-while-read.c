// verdict: race
// Main frees the block while the thread may still read it.
#include <pthread.h>
#include <stdlib.h>

static int sum;

static void *reader(void *arg)
{
    int *block = arg;
    sum = block[0] + block[1]; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int *block = malloc(2 * sizeof *block);
    block[0] = 1; // NORACE
    block[1] = 2; // NORACE
    pthread_create(&thread, NULL, reader, block);
    free(block); // RACE
    pthread_join(thread, NULL);
    return sum;
}
