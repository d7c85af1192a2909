// verdict: race
// C11 threads without any lock.
#include <threads.h>

static int counter;

static int worker(void *arg)
{
    counter++; // RACE
    return 0;
}

int main(void)
{
    thrd_t a, b;
    thrd_create(&a, worker, NULL);
    thrd_create(&b, worker, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return counter; // NORACE
}
