// verdict: race-free
// unbounded
// Endless C11 threads with a C11 atomic and a thread_local.
#include <stdatomic.h>
#include <threads.h>

static atomic_uint total;
static thread_local unsigned mine;

static int worker(void *arg)
{
    for (;;) {
        mine++; // NORACE
        atomic_fetch_add(&total, mine); // NORACE
    }
    return 0;
}

int main(void)
{
    thrd_t a, b;
    thrd_create(&a, worker, NULL);
    thrd_create(&b, worker, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return 0;
}
