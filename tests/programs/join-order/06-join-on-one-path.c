// verdict: race
// Only a program called with arguments waits for its thread.
#include <pthread.h>

static int progress;

static void *worker(void *arg)
{
    progress = 50; // RACE
    progress = 100; // RACE
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (argc > 1)
        pthread_join(thread, NULL);
    return progress; // RACE
}
