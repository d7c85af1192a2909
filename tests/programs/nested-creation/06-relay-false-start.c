// verdict: race
// As 05, but a runner starts the next one before it has written.
#include <pthread.h>

static int baton;

static void *second(void *arg)
{
    baton += 10; // RACE
    return NULL;
}

static void *first(void *arg)
{
    pthread_t next;
    pthread_create(&next, NULL, second, NULL);
    baton += 1; // RACE
    pthread_join(next, NULL);
    return NULL;
}

int main(void)
{
    pthread_t runner;
    pthread_create(&runner, NULL, first, NULL);
    pthread_join(runner, NULL);
    return baton;
}
