// verdict: race-free
// Each runner writes, then starts the next and never writes again; main joins all by the chain.
#include <pthread.h>

static int baton;

static void *third(void *arg)
{
    baton += 100; // NORACE
    return NULL;
}

static void *second(void *arg)
{
    pthread_t next;
    baton += 10; // NORACE
    pthread_create(&next, NULL, third, NULL);
    pthread_join(next, NULL);
    return NULL;
}

static void *first(void *arg)
{
    pthread_t next;
    baton += 1; // NORACE
    pthread_create(&next, NULL, second, NULL);
    pthread_join(next, NULL);
    return NULL;
}

int main(void)
{
    pthread_t runner;
    pthread_create(&runner, NULL, first, NULL);
    pthread_join(runner, NULL);
    return baton == 111 ? 0 : 1; // NORACE
}
