// verdict: race-free
// sem_trywait with its result checked.
#include <pthread.h>
#include <semaphore.h>

static int counter;
static sem_t access_right;

static void *worker(void *arg)
{
    if (sem_trywait(&access_right) == 0) {
        counter++; // NORACE
        sem_post(&access_right);
    }
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
