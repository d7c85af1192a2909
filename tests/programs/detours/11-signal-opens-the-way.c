// verdict: race
// unbounded
// Only a signal handler sets the flag that lets two threads meet.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int go;
static int shared;

static void handle(int number)
{
    go = 1;
}

static void *worker(void *arg)
{
    while (!go) {
    }
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    signal(SIGUSR1, handle);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    raise(SIGUSR1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
