// verdict: race
// One thread writes through a pointer to an inner member, the other through the container.
#include <pthread.h>

struct inner {
    int low, high;
};
struct outer {
    int id;
    struct inner range;
};

static struct outer outer;

static void *narrow(void *arg)
{
    struct inner *range = arg;
    range->high = 10; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, narrow, &outer.range);
    outer.id = 1; // NORACE
    outer.range.low = 2; // NORACE
    outer.range.high = 3; // RACE
    pthread_join(thread, NULL);
    return outer.range.high;
}
