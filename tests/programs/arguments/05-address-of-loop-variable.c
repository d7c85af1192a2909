// verdict: race
// The classic: every thread gets the address of the loop variable, which main goes on changing.
#include <pthread.h>
#include <stdint.h>

static void *worker(void *arg)
{
    int id = *(int *)arg; // RACE
    return (void *)(intptr_t)(id + 1);
}

int main(void)
{
    pthread_t threads[2];
    int i;
    for (i = 0; i < 2; i++) // RACE
        pthread_create(&threads[i], NULL, worker, &i);
    for (int k = 0; k < 2; k++)
        pthread_join(threads[k], NULL);
    return 0;
}
