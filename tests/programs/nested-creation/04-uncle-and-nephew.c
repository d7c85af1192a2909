// verdict: race
// Main's second thread runs beside the child of its first.
#include <pthread.h>

static int shared;

static void *nephew(void *arg)
{
    shared = 1; // RACE
    return NULL;
}

static void *father(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nephew, NULL);
    pthread_join(thread, NULL);
    return NULL;
}

static void *uncle(void *arg)
{
    shared = 2; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, father, NULL);
    pthread_create(&b, NULL, uncle, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared; // NORACE
}
