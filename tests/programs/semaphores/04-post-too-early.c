// verdict: race
// The writer posts and then writes once more.
#include <pthread.h>
#include <semaphore.h>

static int datum;
static sem_t ready;

static void *writer(void *arg)
{
    datum = 11; // NORACE
    sem_post(&ready);
    datum = 12; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sem_init(&ready, 0, 0);
    pthread_create(&thread, NULL, writer, NULL);
    sem_wait(&ready);
    int seen = datum; // RACE
    pthread_join(thread, NULL);
    return seen;
}
