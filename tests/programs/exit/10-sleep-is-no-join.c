// verdict: race
// Main sleeps long enough, it hopes, for the thread to be done.
#include <pthread.h>
#include <unistd.h>

static int result;

static void *worker(void *arg)
{
    result = 6; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_detach(thread);
    sleep(1);
    return result; // RACE
}
