// verdict: race-free
// Who reads from a pipe waits for the write, and sees all that came before it.
#include <pthread.h>
#include <unistd.h>

static int wake[2];
static int datum;

static void *producer(void *arg)
{
    datum = 42; // NORACE
    if (write(wake[1], "x", 1) != 1)
        return arg;
    return NULL;
}

static void *consumer(void *arg)
{
    char byte;
    while (read(wake[0], &byte, 1) != 1)
        ;
    datum++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    if (pipe(wake))
        return 1;
    pthread_create(&first, NULL, producer, NULL);
    pthread_create(&second, NULL, consumer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
