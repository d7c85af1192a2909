// verdict: race
// A block that holds the address of a global grows before another thread looks into it.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int **table;
static int shared;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    int *found = table ? table[0] : NULL; // NORACE
    pthread_mutex_unlock(&lock);
    if (found)
        (*found)++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int **block = malloc(sizeof *block);
    block[0] = &shared;
    block = realloc(block, 2 * sizeof *block);
    pthread_mutex_lock(&lock);
    table = block; // NORACE
    pthread_mutex_unlock(&lock);
    shared++; // RACE
    pthread_join(thread, NULL);
    return 0;
}
