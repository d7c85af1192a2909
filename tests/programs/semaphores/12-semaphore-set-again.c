// verdict: race
// sem_init of a semaphore that another thread waits for.
#include <pthread.h>
#include <semaphore.h>

sem_t ready;

void *work(void *arg)
{
    sem_wait(&ready); // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    sem_init(&ready, 0, 1);
    pthread_create(&t, NULL, work, NULL);
    sem_init(&ready, 0, 2); // RACE
    pthread_join(t, NULL);
    return 0;
}
