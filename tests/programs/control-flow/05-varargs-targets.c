// verdict: race
// The addresses to write come as variable arguments.
#include <pthread.h>
#include <stdarg.h>

static int first, second, third;

static void clear(int count, ...)
{
    va_list targets;
    va_start(targets, count);
    for (int i = 0; i < count; i++) {
        int *target = va_arg(targets, int *);
        *target = 0; // RACE
    }
    va_end(targets);
}

static void *worker(void *arg)
{
    clear(2, &first, &second);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    clear(2, &second, &third);
    pthread_join(thread, NULL);
    return first + second + third;
}
