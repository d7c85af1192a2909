// verdict: race
// Cancelling and joining one worker says nothing about the other.
#include <pthread.h>

static int shared;

static void *first(void *arg)
{
    pthread_testcancel();
    return NULL;
}

static void *second(void *arg)
{
    shared = 2; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_cancel(a);
    pthread_join(a, NULL);
    shared = 1; // RACE
    pthread_join(b, NULL);
    return shared;
}
