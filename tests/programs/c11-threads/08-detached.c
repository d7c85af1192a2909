// verdict: race
// A detached thread is never awaited.
#include <threads.h>

static int progress;

static int worker(void *arg)
{
    progress = 100; // RACE
    return 0;
}

int main(void)
{
    thrd_t thread;
    thrd_create(&thread, worker, NULL);
    thrd_detach(thread);
    thrd_yield();
    return progress; // RACE
}
