// verdict: race
// A struct of more than two words among variable arguments brings its pointers along.
#include <pthread.h>
#include <stdarg.h>

int shared;

struct order {
    long number, amount;
    int *target;
};

void fill(int count, ...)
{
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++) {
        struct order order = va_arg(list, struct order);
        *order.target = 1; // RACE
    }
    va_end(list);
}

void *work(void *arg)
{
    shared = 2; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    int own;
    struct order first = {1, 1, &own}, second = {2, 1, &shared};
    pthread_create(&t, NULL, work, NULL);
    fill(2, first, second);
    pthread_join(t, NULL);
    return own - 1;
}
