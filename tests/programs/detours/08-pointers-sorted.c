// verdict: race
// Sorting an array of addresses does not make them go away.
#include <pthread.h>
#include <stdlib.h>

static int *table[2];
static int first, second;

static int by_address(const void *left, const void *right)
{
    return *(int *const *)left < *(int *const *)right ? -1 : 1;
}

static void *worker(void *arg)
{
    (*table[0])++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    table[0] = &first;
    table[1] = &second;
    qsort(table, 2, sizeof table[0], by_address);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
