// verdict: race
// memcpy reads the buffer that the other thread fills.
#include <pthread.h>
#include <string.h>

static int source[4];
static int copy[4];

static void *filler(void *arg)
{
    source[2] = 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, filler, NULL);
    memcpy(copy, source, sizeof copy); // RACE
    pthread_join(thread, NULL);
    return copy[2];
}
