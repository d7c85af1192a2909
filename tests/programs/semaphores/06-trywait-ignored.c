// verdict: race
// sem_trywait as if it always got the permit.
#include <pthread.h>
#include <semaphore.h>

static int counter;
static sem_t access_right;

static void *worker(void *arg)
{
    int got = sem_trywait(&access_right);
    counter++; // RACE
    if (got == 0)
        sem_post(&access_right);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&access_right, 0, 1);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
