// verdict: race
// What a signal handler writes lets the reader go on, too.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int wake[2];
static int datum;

static void handler(int number)
{
    if (write(wake[1], "x", 1) != 1)
        _exit(number);
}

static void *worker(void *arg)
{
    datum++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char byte;
    if (pipe(wake))
        return 1;
    signal(SIGINT, handler);
    pthread_create(&thread, NULL, worker, NULL);
    if (read(wake[0], &byte, 1) == 1)
        datum = 0; // RACE
    pthread_join(thread, NULL);
    return 0;
}
