// verdict: race
// The unprotected access sits in the base case, three calls down.
#include <pthread.h>

static int touched;

static void descend(int depth, int *trail)
{
    *trail += depth; // NORACE
    if (depth > 0)
        descend(depth - 1, trail);
    else
        touched = 1; // RACE
}

static void *worker(void *arg)
{
    int trail = 0;
    descend(3, &trail);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return touched;
}
