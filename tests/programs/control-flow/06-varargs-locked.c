// verdict: race-free
// As 05, but the lock comes along and covers every write.
#include <pthread.h>
#include <stdarg.h>

static int first, second, third;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void clear(pthread_mutex_t *guard, int count, ...)
{
    va_list targets;
    va_start(targets, count);
    pthread_mutex_lock(guard);
    for (int i = 0; i < count; i++) {
        int *target = va_arg(targets, int *);
        *target = 0; // NORACE
    }
    pthread_mutex_unlock(guard);
    va_end(targets);
}

static void *worker(void *arg)
{
    clear(&lock, 2, &first, &second);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    clear(&lock, 2, &second, &third);
    pthread_join(thread, NULL);
    return first + second + third;
}
