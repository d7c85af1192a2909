// verdict: race-free
// The thread returns a pointer to its result; main follows it after the join.
#include <pthread.h>
#include <stdlib.h>

static void *square(void *arg)
{
    int *number = arg;
    int *result = malloc(sizeof *result);
    *result = *number * *number; // NORACE
    return result;
}

int main(void)
{
    pthread_t a, b;
    int three = 3, four = 4;
    void *first, *second;
    pthread_create(&a, NULL, square, &three);
    pthread_create(&b, NULL, square, &four);
    pthread_join(a, &first);
    pthread_join(b, &second);
    int sum = *(int *)first + *(int *)second; // NORACE
    free(first);
    free(second);
    return sum == 25 ? 0 : 1;
}
