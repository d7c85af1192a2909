// want: race unknown
// How often qsort compares is its own business, and may be any number.
#include <pthread.h>
#include <stdlib.h>

static int x, comparisons;

static int compare(const void *a, const void *b)
{
    comparisons++;
    return *(const int *)a - *(const int *)b;
}

static void *worker(void *arg)
{
    (void)arg;
    x = 1;
    return NULL;
}

int main(void)
{
    pthread_t t;
    int v[4] = {4, 3, 2, 1};
    qsort(v, 4, sizeof v[0], compare);
    pthread_create(&t, NULL, worker, NULL);
    if (comparisons == 4)
        x = 2;
    pthread_join(t, NULL);
    return 0;
}
