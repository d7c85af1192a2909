// verdict: race-free
// A recursive C11 mutex, locked twice by its owner.
#include <threads.h>

static int counter;
static mtx_t lock;

static void add(int amount)
{
    mtx_lock(&lock);
    counter += amount; // NORACE
    mtx_unlock(&lock);
}

static int worker(void *arg)
{
    mtx_lock(&lock);
    add(1);
    counter *= 2; // NORACE
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t a, b;
    mtx_init(&lock, mtx_plain | mtx_recursive);
    thrd_create(&a, worker, NULL);
    thrd_create(&b, worker, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return counter == 6 ? 0 : 1;
}
