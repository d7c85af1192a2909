// verdict: race-free
// Three rounds of create and join; between the rounds main owns the datum.
#include <pthread.h>

static int datum;

static void *doubler(void *arg)
{
    datum *= 2; // NORACE
    return NULL;
}

int main(void)
{
    datum = 1; // NORACE
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        pthread_create(&thread, NULL, doubler, NULL);
        pthread_join(thread, NULL);
        datum += 1; // NORACE
    }
    return datum == 15 ? 0 : 1;
}
