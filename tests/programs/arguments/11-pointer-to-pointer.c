// verdict: race
// A struct argument leads through two pointers to the variable that main keeps using.
#include <pthread.h>

struct inner {
    int *target;
};
struct outer {
    struct inner *inner;
};

static void *reset(void *arg)
{
    struct outer *outer = arg;
    *outer->inner->target = 0; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int level = 9;
    struct inner inner = {&level};
    struct outer outer = {&inner};
    pthread_create(&thread, NULL, reset, &outer);
    level += 1; // RACE
    pthread_join(thread, NULL);
    return level;
}
