// verdict: race-free
// unbounded
// The ring buffer of two slots with a semaphore for the free and one for the used slots.
#include <pthread.h>
#include <semaphore.h>

static int ring[2];
static sem_t unused, used;

static void *producer(void *arg)
{
    for (unsigned i = 0;; i++) {
        sem_wait(&unused);
        ring[i % 2] = (int)(i % 5); // NORACE
        sem_post(&used);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int last = 0;
    sem_init(&unused, 0, 2);
    sem_init(&used, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    for (unsigned i = 0; last >= 0; i++) {
        sem_wait(&used);
        last = ring[i % 2]; // NORACE
        sem_post(&unused);
    }
    return 0;
}
