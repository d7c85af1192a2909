// verdict: race-free
// C11 threads with a C11 mutex.
#include <threads.h>

static int counter;
static mtx_t lock;

static int worker(void *arg)
{
    mtx_lock(&lock);
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
    mtx_destroy(&lock);
    return counter == 2 ? 0 : 1; // NORACE
}
