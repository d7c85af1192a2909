// verdict: race-free
// unbounded
// A lock made of an exchanged flag, taken and given back in functions of its own.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int busy;
static int shared;

static void enter(atomic_int *flag)
{
    while (atomic_exchange(flag, 1)) {
    }
}

static void leave(atomic_int *flag)
{
    atomic_store(flag, 0);
}

static void *worker(void *arg)
{
    enter(&busy);
    shared++; // NORACE
    leave(&busy);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
