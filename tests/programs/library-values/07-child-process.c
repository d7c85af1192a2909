// verdict: race-free
// The child has a memory of its own.
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

static int shared;

static void *worker(void *arg)
{
    shared = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pid_t child = fork();
    if (child == 0) {
        shared = 2; // NORACE
        _exit(0);
    }
    pthread_join(thread, NULL);
    return 0;
}
