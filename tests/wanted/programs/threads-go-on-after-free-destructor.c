// want: race unknown
// A destructor that is a library function is called, and the threads go on: one is not joined.
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static int sums[2];

static int *mine(void)
{
    int *block = pthread_getspecific(key);
    if (!block) {
        block = calloc(1, sizeof *block);
        pthread_setspecific(key, block);
    }
    return block;
}

static void *worker(void *arg)
{
    *mine() += 1; // NORACE
    *mine() += 2; // NORACE
    *(int *)arg = *mine(); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_key_create(&key, free);
    pthread_create(&a, NULL, worker, &sums[0]);
    pthread_create(&b, NULL, worker, &sums[1]);
    ;
    pthread_join(b, NULL);
    return sums[0] + sums[1] == 6 ? 0 : 1;
}
