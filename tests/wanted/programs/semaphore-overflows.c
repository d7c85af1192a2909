// want: race unknown
// sem_post fails with EOVERFLOW at the largest value.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

static int x;

static void *worker(void *arg)
{
    (void)arg;
    x = 1;
    return NULL;
}

int main(void)
{
    pthread_t t;
    sem_t q; sem_init(&q, 0, SEM_VALUE_MAX);
    pthread_create(&t, NULL, worker, NULL);
    if (sem_post(&q) == -1 && errno == EOVERFLOW)
        x = 2;
    pthread_join(t, NULL);
    return 0;
}
