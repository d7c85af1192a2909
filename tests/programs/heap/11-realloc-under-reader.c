// verdict: race
// Growing the buffer moves it: realloc ends the life of the block the reader is in.
#include <pthread.h>
#include <stdlib.h>

static int first;

static void *reader(void *arg)
{
    int *buffer = arg;
    first = buffer[0]; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int *buffer = malloc(2 * sizeof *buffer);
    buffer[0] = 1; // NORACE
    pthread_create(&thread, NULL, reader, buffer);
    int *bigger = realloc(buffer, 64 * sizeof *bigger); // RACE
    pthread_join(thread, NULL);
    free(bigger); // NORACE
    return first;
}
