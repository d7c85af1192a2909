// verdict: race-free
// Threads are started and awaited through wrappers that check for errors.
#include <pthread.h>
#include <stdlib.h>

static int result;

static pthread_t start(void *(*entry)(void *), void *arg)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, entry, arg) != 0)
        abort();
    return thread;
}

static void await(pthread_t thread)
{
    if (pthread_join(thread, NULL) != 0)
        abort();
}

static void *compute(void *arg)
{
    result += *(int *)arg; // NORACE
    return NULL;
}

int main(void)
{
    int amount = 3;
    await(start(compute, &amount));
    result *= 2; // NORACE
    await(start(compute, &amount));
    return result == 9 ? 0 : 1; // NORACE
}
