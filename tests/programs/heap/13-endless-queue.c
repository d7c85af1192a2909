// verdict: race-free
// unbounded
// Endless producer and consumer of a linked queue; a node changes hands under the lock.
#include <pthread.h>
#include <stdlib.h>

struct job {
    int number;
    struct job *next;
};

static struct job *queue;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *consumer(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        struct job *job = queue; // NORACE
        if (job)
            queue = job->next; // NORACE
        pthread_mutex_unlock(&lock);
        if (job) {
            job->number = 0; // NORACE
            free(job); // NORACE
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, consumer, NULL);
    for (int number = 0;; number = !number) {
        struct job *job = malloc(sizeof *job);
        job->number = number; // NORACE
        pthread_mutex_lock(&lock);
        job->next = queue; // NORACE
        queue = job; // NORACE
        pthread_mutex_unlock(&lock);
    }
}
