// verdict: race-free
// A read-modify-write goes on with the release sequence, even a relaxed one.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stage;
static int data;

static void *first(void *argument)
{
    data = 1; // NORACE
    atomic_store_explicit(&stage, 1, memory_order_release);
    return argument;
}

static void *second(void *argument)
{
    if (atomic_load_explicit(&stage, memory_order_relaxed) == 1)
        atomic_fetch_add_explicit(&stage, 1, memory_order_relaxed);
    return argument;
}

int main(void)
{
    pthread_t one, two;
    int seen = 1;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    if (atomic_load_explicit(&stage, memory_order_acquire) == 2)
        seen = data; // NORACE
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return seen == 1 ? 0 : 1;
}
