// verdict: race
// The byte goes into the pipe before the datum is written.
#include <pthread.h>
#include <unistd.h>

static int wake[2];
static int datum;

static void *producer(void *arg)
{
    if (write(wake[1], "x", 1) != 1)
        return arg;
    datum = 42; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char byte;
    if (pipe(wake))
        return 1;
    pthread_create(&thread, NULL, producer, NULL);
    if (read(wake[0], &byte, 1) == 1)
        datum++; // RACE
    pthread_join(thread, NULL);
    return 0;
}
