// verdict: race
// Starts at zero, and main posts twice: two permits are about.
#include <pthread.h>
#include <semaphore.h>

static int counter;
static sem_t access_right;

static void *worker(void *arg)
{
    sem_wait(&access_right);
    counter++; // RACE
    sem_post(&access_right);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&access_right, 0, 0);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    counter = 1; // NORACE
    sem_post(&access_right);
    sem_post(&access_right);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
