// verdict: race
// A row and a column of the matrix cross in one element.
#include <pthread.h>

static int matrix[3][3];

static void *paint_row(void *arg)
{
    for (int column = 0; column < 3; column++)
        matrix[1][column] = 1; // RACE
    return NULL;
}

static void *paint_column(void *arg)
{
    for (int row = 0; row < 3; row++)
        matrix[row][2] = 2; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, paint_row, NULL);
    pthread_create(&b, NULL, paint_column, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return matrix[1][2];
}
