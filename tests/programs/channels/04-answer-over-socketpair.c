// verdict: race-free
// Request and answer over a pair of sockets: only one side works at a time.
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static int shared;

static void *server(void *arg)
{
    char request;
    if (recv(ends[1], &request, 1, 0) == 1) {
        shared += request; // NORACE
        if (send(ends[1], &request, 1, 0) != 1)
            return arg;
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char message = 3;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    pthread_create(&thread, NULL, server, NULL);
    shared = 1; // NORACE
    if (write(ends[0], &message, 1) == 1 && read(ends[0], &message, 1) == 1)
        shared++; // NORACE
    pthread_join(thread, NULL);
    return 0;
}
