// verdict: race
// Every second element and every third element: they meet at index 6.
#include <pthread.h>

static int data[7];

static void *twos(void *arg)
{
    for (int i = 2; i < 7; i += 2)
        data[i] = 2; // RACE
    return NULL;
}

static void *threes(void *arg)
{
    for (int i = 3; i < 7; i += 3)
        data[i] = 3; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, twos, NULL);
    pthread_create(&b, NULL, threes, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[6];
}
