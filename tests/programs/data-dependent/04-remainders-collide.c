// verdict: race
// i * 3 % 4 visits 3 and then 2; i * 2 visits 2 as well.
#include <pthread.h>

static int data[5];

static void *by_three(void *arg)
{
    for (int i = 1; i <= 2; i++)
        data[i * 3 % 4] = 3; // RACE
    return NULL;
}

static void *by_two(void *arg)
{
    for (int i = 1; i <= 2; i++)
        data[i * 2] = 2; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, by_three, NULL);
    pthread_create(&b, NULL, by_two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[2];
}
