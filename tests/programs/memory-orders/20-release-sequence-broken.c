// verdict: race
// A store of another thread ends the release sequence.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stage;
static int data;

static void *first(void *argument)
{
    data = 1; // RACE
    atomic_store_explicit(&stage, 1, memory_order_release);
    return argument;
}

static void *second(void *argument)
{
    if (atomic_load_explicit(&stage, memory_order_relaxed) == 1)
        atomic_store_explicit(&stage, 2, memory_order_relaxed);
    return argument;
}

int main(void)
{
    pthread_t one, two;
    int seen = 1;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    if (atomic_load_explicit(&stage, memory_order_acquire) == 2)
        seen = data; // RACE
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return seen == 1 ? 0 : 1;
}
