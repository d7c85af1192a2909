// verdict: race
// unbounded
// One endless thread locks, the other does not.
#include <threads.h>

static unsigned total;
static mtx_t lock;

static int careful(void *arg)
{
    for (;;) {
        mtx_lock(&lock);
        total++; // RACE
        mtx_unlock(&lock);
    }
    return 0;
}

static int careless(void *arg)
{
    for (;;)
        total--; // RACE
    return 0;
}

int main(void)
{
    thrd_t a, b;
    mtx_init(&lock, mtx_plain);
    thrd_create(&a, careful, NULL);
    thrd_create(&b, careless, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return 0;
}
