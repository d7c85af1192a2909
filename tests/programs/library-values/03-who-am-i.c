// verdict: race-free
// A thread is itself: pthread_equal decides, not chance.
#include <pthread.h>

static int shared;
static pthread_t self;

static void *worker(void *arg)
{
    shared = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    self = pthread_self();
    pthread_create(&thread, NULL, worker, NULL);
    if (!pthread_equal(self, pthread_self()))
        shared = 2; // NORACE
    pthread_join(thread, NULL);
    return 0;
}
