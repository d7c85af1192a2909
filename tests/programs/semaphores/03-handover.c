// verdict: race-free
// The post says that the datum is there; the reader waits for it.
#include <pthread.h>
#include <semaphore.h>

static int datum;
static sem_t ready;

static void *writer(void *arg)
{
    datum = 11; // NORACE
    sem_post(&ready);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sem_init(&ready, 0, 0);
    pthread_create(&thread, NULL, writer, NULL);
    sem_wait(&ready);
    int seen = datum; // NORACE
    pthread_join(thread, NULL);
    return seen == 11 ? 0 : 1;
}
