// verdict: race
// unbounded
// One creation site, one thread at a time, but each instance leaves a block to the next one.
#include <pthread.h>
#include <stdlib.h>

struct block {
    int *target;
    struct block *older;
};

static struct block *newest;
static int shared, unused;

static void *child(void *arg)
{
    struct block *mine = malloc(sizeof *mine);
    mine->target = &shared;
    mine->older = newest;
    newest = mine;
    if (mine->older) {
        mine->target = &unused;
        (*mine->older->target)++; // RACE
    }
    return NULL;
}

static void *other(void *arg)
{
    while (1)
        shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    while (1) {
        pthread_create(&thread, NULL, child, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
