// verdict: race
// A function in .init_array starts a thread before main.
#include <pthread.h>

int shared;

void *work(void *arg)
{
    shared = 1; // RACE
    return arg;
}

static void start(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
}

__attribute__((section(".init_array"), used)) static void (*entry)(void) = start;

int main(void)
{
    shared = 2; // RACE
    return 0;
}
