// verdict: race
// unbounded
// As 05 with a plain flag.
#include <pthread.h>

static int message;
static int ready;

static void *sender(void *arg)
{
    message = 7;
    ready = 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sender, NULL);
    while (!ready) // RACE
        ;
    int seen = message;
    pthread_join(thread, NULL);
    return seen;
}
