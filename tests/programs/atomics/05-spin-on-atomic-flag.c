// verdict: race-free
// unbounded
// The classic message: plain data, published by an atomic flag with release and acquire.
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int ready;

static void *sender(void *arg)
{
    message = 7; // NORACE
    atomic_store_explicit(&ready, 1, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sender, NULL);
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        ;
    int seen = message; // NORACE
    pthread_join(thread, NULL);
    return seen == 7 ? 0 : 1;
}
