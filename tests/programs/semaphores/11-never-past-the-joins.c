// verdict: race-free
// One permit for three threads, never given back: main does not get past both joins.
#include <pthread.h>
#include <semaphore.h>

static int total;
static sem_t permits;

static void *reader(void *unused)
{
    long seen = total; // NORACE
    sem_wait(&permits);
    return (void *)seen;
}

int main(void)
{
    pthread_t threads[3];
    sem_init(&permits, 0, 1);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    total = 2; // NORACE
    return 0;
}
