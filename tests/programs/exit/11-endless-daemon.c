// verdict: race-free
// unbounded
// An endless daemon thread; main configured it before and ends the process at some time.
#include <pthread.h>

static int period;
static unsigned beats;

static void *daemon_loop(void *arg)
{
    while (period > 0) // NORACE
        beats += (unsigned)period; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    period = 3; // NORACE
    pthread_create(&thread, NULL, daemon_loop, NULL);
    pthread_detach(thread);
    return 0;
}
