// want: race unknown
// The number of a freed address may be that of a new block.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
static int x;
static void *worker(void *arg) { x = 1; return NULL; }
int main(void)
{
    pthread_t t;
    char *p = malloc(16);
    uintptr_t old = (uintptr_t)p;
    free(p);
    p = malloc(16);
    pthread_create(&t, NULL, worker, NULL);
    if (old == (uintptr_t)p) x = 2;
    pthread_join(t, NULL);
    free(p);
    return 0;
}
