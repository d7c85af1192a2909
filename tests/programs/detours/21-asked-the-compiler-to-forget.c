// verdict: race
// An empty assembler statement hides where an address comes from.
#include <pthread.h>

static int shared;

static int *hidden(int *pointer)
{
    int *result;
    __asm__("" : "=r"(result) : "0"(pointer));
    return result;
}

static void *worker(void *arg)
{
    ++*hidden(&shared); // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
