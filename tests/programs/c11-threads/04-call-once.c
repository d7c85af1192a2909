// verdict: race-free
// call_once makes the shared value.
#include <threads.h>

static int value;
static once_flag flag = ONCE_FLAG_INIT;

static void make(void)
{
    value = 8; // NORACE
}

static int worker(void *arg)
{
    call_once(&flag, make);
    return value; // NORACE
}

int main(void)
{
    thrd_t a, b;
    int first = 0, second = 0;
    thrd_create(&a, worker, NULL);
    thrd_create(&b, worker, NULL);
    thrd_join(a, &first);
    thrd_join(b, &second);
    return first + second == 16 ? 0 : 1;
}
