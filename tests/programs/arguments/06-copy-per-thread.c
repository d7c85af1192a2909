// verdict: race-free
// As 05, but each thread gets the address of its own copy of the number.
#include <pthread.h>

static int seen[2];

static void *worker(void *arg)
{
    int id = *(int *)arg; // NORACE
    seen[id] = id + 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int ids[2];
    for (int i = 0; i < 2; i++) {
        ids[i] = i; // NORACE
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return seen[0] + seen[1];
}
