// verdict: race
// The plainest race: two threads increment a counter, nobody locks.
#include <pthread.h>

static int counter;

static void *worker(void *arg)
{
    counter++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return counter == 2 ? 0 : 1; // NORACE
}
