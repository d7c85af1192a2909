// verdict: race
// unbounded
// As 09, but the free semaphore promises three slots where there are two.
#include <pthread.h>
#include <semaphore.h>

static int ring[2];
static sem_t unused, used;

static void *producer(void *arg)
{
    for (unsigned i = 0;; i++) {
        sem_wait(&unused);
        ring[i % 2] = (int)(i % 5); // RACE
        sem_post(&used);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int last = 0;
    sem_init(&unused, 0, 3);
    sem_init(&used, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    for (unsigned i = 0; last >= 0; i++) {
        sem_wait(&used);
        last = ring[i % 2]; // RACE
        sem_post(&unused);
    }
    return 0;
}
