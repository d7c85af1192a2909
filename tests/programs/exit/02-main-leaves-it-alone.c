// verdict: race-free
// Main returns early, but the thread is the only one that ever touches the variable.
#include <pthread.h>

static int progress;

static void *worker(void *arg)
{
    for (int i = 0; i < 3; i++)
        progress += i; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    progress = 10; // NORACE
    pthread_create(&thread, NULL, worker, NULL);
    pthread_detach(thread);
    return 0;
}
