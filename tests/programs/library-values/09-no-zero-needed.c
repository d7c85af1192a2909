// verdict: race
// memchr may be told a size beyond the buffer if the character comes before its end.
#include <pthread.h>
#include <string.h>

static int shared;
static char tag[4] = {'a', 'b', 'c', 'd'};
static size_t far = 1000;

static void *worker(void *arg)
{
    shared = 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (memchr(tag, 'c', far) == &tag[2])
        shared = 2; // RACE
    pthread_join(thread, NULL);
    return 0;
}
