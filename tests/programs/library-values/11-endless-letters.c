// verdict: race
// unbounded
// Two threads for ever; what toupper returns lets one of them go on.
#include <ctype.h>
#include <pthread.h>

static int shared;
static int letter = 'a';

static void *worker(void *arg)
{
    for (;;)
        if (toupper(letter) == 'A')
            shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    for (;;)
        shared = 0; // RACE
    return 0;
}
