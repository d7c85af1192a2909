// verdict: race-free
// Constructors run before main, destructors after it.
#include <pthread.h>

int shared;

__attribute__((constructor)) static void before(void)
{
    shared = 1; // NORACE
}

__attribute__((destructor)) static void after(void)
{
    shared = 3; // NORACE
}

void *work(void *arg)
{
    shared = 2; // NORACE
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    return 0;
}
