// verdict: race-free
// An array of threads, each with its own slot of the result array.
#include <pthread.h>

static int squares[4];

static void *square(void *arg)
{
    int *slot = arg;
    long index = slot - squares;
    *slot = (int)(index * index); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    int sum = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, square, &squares[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        sum += squares[i]; // NORACE
    return sum == 14 ? 0 : 1;
}
