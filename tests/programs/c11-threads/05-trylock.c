// verdict: race-free
// mtx_trylock succeeds with thrd_success, not with just any value.
#include <threads.h>

static int counter;
static mtx_t lock;

static int worker(void *arg)
{
    if (mtx_trylock(&lock) != thrd_success)
        return 1;
    counter++; // NORACE
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t a, b;
    mtx_init(&lock, mtx_plain);
    thrd_create(&a, worker, NULL);
    thrd_create(&b, worker, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return counter;
}
