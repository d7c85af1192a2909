// want: race unknown
// The destructor of a key is free itself: it writes the block at the end of the thread.
#include <pthread.h>
#include <stdlib.h>
static pthread_key_t key;
static int *shared;
static void *worker(void *arg)
{
    pthread_setspecific(key, shared);
    return NULL;
}
int main(void)
{
    pthread_t a;
    shared = malloc(4);
    pthread_key_create(&key, free);
    pthread_create(&a, NULL, worker, NULL);
    *shared = 3;
    pthread_join(a, NULL);
}
