// verdict: race-free
// Main initialises through the same control as its thread, then both only read.
#include <pthread.h>

static int *shared;
static int storage;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_up(void)
{
    storage = 3; // NORACE
    shared = &storage; // NORACE
}

static int get(void)
{
    pthread_once(&once, set_up);
    return *shared; // NORACE
}

static void *worker(void *arg)
{
    *(int *)arg = get();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int theirs = 0;
    pthread_create(&thread, NULL, worker, &theirs);
    int mine = get();
    pthread_join(thread, NULL);
    return mine + theirs == 6 ? 0 : 1;
}
