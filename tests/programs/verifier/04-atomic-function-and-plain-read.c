// verdict: race
// As 03, but main reads one of the variables outside the atomic functions.
#include <pthread.h>

static int low, high;

void __VERIFIER_atomic_widen(int amount)
{
    low -= amount; // NORACE
    high += amount; // RACE
}

static void *worker(void *arg)
{
    __VERIFIER_atomic_widen(2);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int seen = high; // RACE
    pthread_join(thread, NULL);
    return seen + low; // NORACE
}
