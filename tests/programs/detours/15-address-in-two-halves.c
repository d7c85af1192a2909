// verdict: race
// An address is taken apart into halves and put together again elsewhere.
#include <pthread.h>
#include <stdint.h>

static unsigned short parts[sizeof(uintptr_t) / 2];
static int shared;

static void *worker(void *arg)
{
    uintptr_t whole = 0;
    for (unsigned i = 0; i < sizeof whole / 2; i++)
        whole |= (uintptr_t)parts[i] << 16 * i;
    ++*(int *)whole; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    uintptr_t whole = (uintptr_t)&shared;
    for (unsigned i = 0; i < sizeof whole / 2; i++)
        parts[i] = (unsigned short)(whole >> 16 * i);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
