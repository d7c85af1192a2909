// verdict: race
// As with an allocator of its own, but that keeps the last block, and a thread looks at it.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *last;

static int *take_memory(void)
{
    int *block = malloc(sizeof *block);
    pthread_mutex_lock(&lock);
    last = block;
    pthread_mutex_unlock(&lock);
    return block;
}

static void *watch(void *argument)
{
    pthread_mutex_lock(&lock);
    int *block = last;
    pthread_mutex_unlock(&lock);
    if (block != NULL)
        *(int *)argument = *block; // RACE
    return NULL;
}

int main(void)
{
    pthread_t watcher;
    int seen = 0;
    pthread_create(&watcher, NULL, watch, &seen);
    for (int i = 0; i < 2; i++) {
        int *block = take_memory();
        *block = i; // RACE
    }
    pthread_join(watcher, NULL);
    return seen;
}
