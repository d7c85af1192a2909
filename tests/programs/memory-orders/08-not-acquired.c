// verdict: race
// A release that nobody acquires.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int data;

static void *writer(void *argument)
{
    data = 1; // RACE
    atomic_store_explicit(&ready, 1, memory_order_release);
    return argument;
}

int main(void)
{
    pthread_t other;
    int seen = 1;
    pthread_create(&other, NULL, writer, NULL);
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        seen = data; // RACE
    }
    pthread_join(other, NULL);
    return seen == 1 ? 0 : 1;
}
