// verdict: race-free
// A variable that nobody has set may hold anything, but it holds the same when asked again.
#include <pthread.h>

static int datum;

static void *worker(void *arg)
{
    datum++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int chance;
    if (datum) // NORACE
        chance = 0;
    if (chance)
        pthread_create(&thread, NULL, worker, NULL);
    if (chance)
        pthread_join(thread, NULL);
    datum = 2; // NORACE
    return 0;
}
