// verdict: race-free
// Each thread gets the address of its own counter.
#include <pthread.h>

static int apples, pears;

static void *count(void *arg)
{
    int *counter = arg;
    for (int i = 0; i < 3; i++)
        (*counter)++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, count, &apples);
    pthread_create(&b, NULL, count, &pears);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return apples + pears;
}
