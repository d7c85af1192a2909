// verdict: race
// A variable that nobody has set may hold anything, not only zero.
#include <pthread.h>

static int datum;

static void *worker(void *arg)
{
    datum++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int chance;
    if (datum) // NORACE
        chance = 0;
    pthread_create(&thread, NULL, worker, NULL);
    if (chance)
        datum = 2; // RACE
    pthread_join(thread, NULL);
    return 0;
}
