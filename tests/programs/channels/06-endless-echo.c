// verdict: race-free
// unbounded
// Two threads hand a datum to and fro for ever, each waiting for the other's byte.
#include <pthread.h>
#include <unistd.h>

static int there[2], back[2];
static int datum;

static void *echo(void *arg)
{
    char byte;
    while (read(there[0], &byte, 1) == 1) {
        datum++; // NORACE
        if (write(back[1], &byte, 1) != 1)
            break;
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char byte = 'x';
    if (pipe(there) || pipe(back))
        return 1;
    pthread_create(&thread, NULL, echo, NULL);
    do {
        datum--; // NORACE
    } while (write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1);
    return 0;
}
