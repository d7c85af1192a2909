// verdict: race-free
// A semaphore of one in place of a mutex.
#include <pthread.h>
#include <semaphore.h>

static int counter;
static sem_t access_right;

static void *worker(void *arg)
{
    sem_wait(&access_right);
    counter++; // NORACE
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
    return counter == 2 ? 0 : 1;
}
