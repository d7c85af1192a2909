// verdict: race-free
// Atomicity comes with the type behind the pointer, through a function call.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_long total;
static atomic_bool seen_any;

static void add(atomic_long *to, long amount)
{
    *to += amount; // NORACE
}

static void *worker(void *arg)
{
    add(&total, 5);
    seen_any = true; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    add(&total, -5);
    bool early = seen_any; // NORACE
    pthread_join(thread, NULL);
    return early && total != 0;
}
