// verdict: race
// The joining loop stops one thread short.
#include <pthread.h>

static int done[3];

static void *worker(void *arg)
{
    int *flag = arg;
    *flag = 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int sum = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, &done[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++)
        sum += done[i]; // RACE
    return sum;
}
