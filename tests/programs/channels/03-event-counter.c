// verdict: race-free
// A read of an eventfd waits until somebody has added to it.
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int event;
static int datum;

static void *producer(void *arg)
{
    uint64_t one = 1;
    datum = 42; // NORACE
    return write(event, &one, sizeof one) == sizeof one ? NULL : arg;
}

int main(void)
{
    pthread_t thread;
    uint64_t count;
    event = eventfd(0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    if (read(event, &count, sizeof count) == sizeof count)
        datum++; // NORACE
    pthread_join(thread, NULL);
    return 0;
}
