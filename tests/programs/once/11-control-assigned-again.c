// verdict: race
// A once control that is assigned again runs its routine again.
#include <pthread.h>

pthread_once_t control = PTHREAD_ONCE_INIT;
int shared;

void initialise(void)
{
    shared++; // RACE
}

void *work(void *arg)
{
    pthread_once(&control, initialise);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_once_t fresh = PTHREAD_ONCE_INIT;
    pthread_once(&control, initialise);
    control = fresh;
    pthread_create(&t, NULL, work, NULL);
    shared = 5; // RACE
    pthread_join(t, NULL);
    return 0;
}
