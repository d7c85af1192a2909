// verdict: race
// A recursive call writes the caller's local, not its own of the same name.
#include <pthread.h>

static int shared;

static void descend(int *outer, int depth)
{
    int mine = 0;
    if (outer)
        *outer = 5;
    if (depth > 0)
        descend(&mine, depth - 1);
    if (outer && mine == 0)
        shared++; // RACE
}

static void *worker(void *arg)
{
    descend(NULL, 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
