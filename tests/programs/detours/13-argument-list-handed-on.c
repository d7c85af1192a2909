// verdict: race
// A list of variable arguments is handed to a second function, which writes through one of them.
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>

static int shared;

static void add_all(int count, va_list targets)
{
    for (int i = 0; i < count; i++) {
        int *target = va_arg(targets, int *);
        (*target)++; // RACE
    }
}

static void add(int count, ...)
{
    va_list targets;
    va_start(targets, count);
    add_all(count, targets);
    va_end(targets);
}

static void *worker(void *arg)
{
    int own = 0;
    add(2, &own, &shared);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
