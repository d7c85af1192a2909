// verdict: race
// An address travels through the forms of atomic operations that take their operands by address.
#include <pthread.h>
#include <stddef.h>

static int *slot;
static int shared;

static void *worker(void *arg)
{
    int *found;
    __atomic_load(&slot, &found, __ATOMIC_SEQ_CST);
    if (found)
        (*found)++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int *mine = &shared;
    pthread_create(&thread, NULL, worker, NULL);
    __atomic_store(&slot, &mine, __ATOMIC_SEQ_CST);
    shared++; // RACE
    pthread_join(thread, NULL);
    return 0;
}
