// verdict: race-free
// One thread takes the even elements, the other the odd ones.
#include <pthread.h>

static int data[6];

static void *even(void *arg)
{
    for (int i = 0; i < 6; i += 2)
        data[i] = 2; // NORACE
    return NULL;
}

static void *odd(void *arg)
{
    for (int i = 1; i < 6; i += 2)
        data[i] = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int sum = 0;
    pthread_create(&a, NULL, even, NULL);
    pthread_create(&b, NULL, odd, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (int i = 0; i < 6; i++)
        sum += data[i]; // NORACE
    return sum == 9 ? 0 : 1;
}
