// want: race-free unknown
// What qsort makes of three numbers is no matter of choice.
#include <pthread.h>
#include <stdlib.h>
static int x;
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void *worker(void *arg) { x = 1; return NULL; }
int main(void)
{
    pthread_t t;
    int v[3] = {3, 1, 2};
    qsort(v, 3, sizeof v[0], compare);
    pthread_create(&t, NULL, worker, NULL);
    if (v[0] != 1) x = 2;
    pthread_join(t, NULL);
    return 0;
}
