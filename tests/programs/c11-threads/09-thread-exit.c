// verdict: race-free
// thrd_exit ends the thread before the code behind it.
#include <threads.h>

static int shared;

static void stop(int code)
{
    thrd_exit(code);
}

static int worker(void *arg)
{
    int code = *(int *)arg;
    if (code >= 0)
        stop(code);
    shared++; // NORACE
    return 0;
}

int main(void)
{
    thrd_t a, b;
    int one = 1, two = 2, first = 0, second = 0;
    thrd_create(&a, worker, &one);
    thrd_create(&b, worker, &two);
    thrd_join(a, &first);
    thrd_join(b, &second);
    return first + second == 3 ? shared : 1;
}
