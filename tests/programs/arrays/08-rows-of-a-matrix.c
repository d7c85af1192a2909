// verdict: race-free
// Each thread owns one row of a two-dimensional array.
#include <pthread.h>

static int matrix[2][3];
static int sums[2];

static void *sum_row(void *arg)
{
    int row = *(int *)arg;
    for (int column = 0; column < 3; column++) {
        matrix[row][column] += row; // NORACE
        sums[row] += matrix[row][column]; // NORACE
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int zero = 0, one = 1;
    pthread_create(&a, NULL, sum_row, &zero);
    pthread_create(&b, NULL, sum_row, &one);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return sums[0] + sums[1] == 3 ? 0 : 1;
}
