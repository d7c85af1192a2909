// verdict: race
// A struct that another thread has filled in is passed by value.
#include <pthread.h>
#include <stddef.h>

struct job {
    int *target;
    int amount[4];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job job;
static int shared;

static void perform(struct job mine)
{
    if (mine.target)
        *mine.target += mine.amount[0]; // RACE
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    struct job copy = job; // NORACE
    pthread_mutex_unlock(&lock);
    perform(copy);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    job.target = &shared; // NORACE
    pthread_mutex_unlock(&lock);
    shared++; // RACE
    pthread_join(thread, NULL);
    return 0;
}
