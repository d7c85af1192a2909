// verdict: race-free
// unbounded
// How many threads there are comes from outside; each of them is joined.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int count = 1;
static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adder(void *arg)
{
    pthread_mutex_lock(&lock);
    total++; // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *watcher(void *arg)
{
    pthread_mutex_lock(&lock);
    int seen = total; // NORACE
    pthread_mutex_unlock(&lock);
    return seen ? arg : NULL;
}

int main(void)
{
    if (scanf("%d", &count) != 1 || count < 1)
        return 1;
    pthread_t pool[count], other;
    for (int i = 0; i < count; i++)
        if (pthread_create(&pool[i], NULL, adder, NULL))
            exit(1);
    if (pthread_create(&other, NULL, watcher, NULL))
        exit(1);
    for (int i = 0; i < count; i++)
        if (pthread_join(pool[i], NULL))
            exit(1);
    pthread_join(other, NULL);
    return 0;
}
