// verdict: race
// Goes ahead exactly when mtx_trylock says thrd_busy.
#include <threads.h>

static int counter;
static mtx_t lock;

static int owner(void *arg)
{
    mtx_lock(&lock);
    counter = 1; // RACE
    mtx_unlock(&lock);
    return 0;
}

static int intruder(void *arg)
{
    if (mtx_trylock(&lock) == thrd_busy)
        counter = 2; // RACE
    else
        mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t a, b;
    mtx_init(&lock, mtx_plain);
    thrd_create(&a, owner, NULL);
    thrd_create(&b, intruder, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return counter;
}
