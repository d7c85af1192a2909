// verdict: race
// One side adds atomically, the other reads the same variable plainly.
#include <pthread.h>

static int hits;

static void *worker(void *arg)
{
    __atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST); // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    int early = hits; // RACE
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return hits - early; // NORACE
}
