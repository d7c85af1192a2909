// verdict: race
// An ifunc is what its resolver returns.
#include <pthread.h>

int shared;

static void plain(void)
{
    shared = 1; // RACE
}

static void *resolve(void)
{
    return plain;
}

void update(void) __attribute__((ifunc("resolve")));

void *work(void *arg)
{
    shared = 2; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    update();
    pthread_join(t, NULL);
    return 0;
}
