// verdict: race
// unbounded
// The producer still writes into a job after it has pushed it.
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
    int sum = 0;
    while (sum < 1000) {
        pthread_mutex_lock(&lock);
        struct job *job = queue; // NORACE
        if (job)
            queue = job->next; // NORACE
        pthread_mutex_unlock(&lock);
        if (job)
            sum += job->number; // RACE
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, consumer, NULL);
    for (;;) {
        struct job *job = malloc(sizeof *job);
        job->number = 0; // NORACE
        pthread_mutex_lock(&lock);
        job->next = queue; // NORACE
        queue = job; // NORACE
        pthread_mutex_unlock(&lock);
        job->number = 1; // RACE
    }
}
