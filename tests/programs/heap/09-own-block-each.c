// verdict: race-free
// One malloc line, but each thread runs it for itself: two blocks, no sharing.
#include <pthread.h>
#include <stdlib.h>

static int *scratch(int size)
{
    int *block = malloc((size_t)size * sizeof *block);
    for (int i = 0; i < size; i++)
        block[i] = 0; // NORACE
    return block;
}

static void *worker(void *arg)
{
    int *mine = scratch(2);
    mine[0]++; // NORACE
    mine[1] += mine[0]; // NORACE
    free(mine); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
