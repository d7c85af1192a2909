// verdict: race
// Assigning a whole inner struct overwrites the member that another thread reads.
#include <pthread.h>

struct colour {
    unsigned char red, green, blue;
};

static struct colour pixels[2];
static int shade;

static void *reader(void *arg)
{
    shade = pixels[1].green; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct colour black = {0, 0, 0};
    pthread_create(&thread, NULL, reader, NULL);
    pixels[0] = black; // NORACE
    pixels[1] = black; // RACE
    pthread_join(thread, NULL);
    return shade;
}
