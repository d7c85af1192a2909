// verdict: race
// unbounded
// Main tries to stop its daemon through a plain variable before it returns.
#include <pthread.h>

static int period = 3;
static unsigned heart;

static void *daemon_loop(void *arg)
{
    unsigned *beats = arg;
    while (period > 0) // RACE
        ++*beats; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, daemon_loop, &heart);
    pthread_detach(thread);
    period = 0; // RACE
    return 0;
}
