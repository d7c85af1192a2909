// verdict: race
// Each thread has its own pointer, but all of them point to one variable.
#include <pthread.h>

static int common;
static __thread int *target;

static void *worker(void *arg)
{
    target = &common; // NORACE
    *target += 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return common;
}
