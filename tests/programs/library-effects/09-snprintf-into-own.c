// verdict: race-free
// As 08, but each thread formats into a buffer on its own stack.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static size_t lengths[2];

static void *worker(void *arg)
{
    int number = *(int *)arg;
    char line[32];
    snprintf(line, sizeof line, "number %d", number); // NORACE
    lengths[number] = strlen(line); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int zero = 0, one = 1;
    pthread_create(&a, NULL, worker, &zero);
    pthread_create(&b, NULL, worker, &one);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return lengths[0] == lengths[1] ? 0 : 1;
}
