// verdict: race
// Main does not wait: its last read races with the thread, then its return ends everything.
#include <pthread.h>

static int progress;

static void *worker(void *arg)
{
    progress = 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int seen = progress; // RACE
    return seen;
}
