// verdict: race
// Both threads get the address of one local variable of main.
#include <pthread.h>

static void *count(void *arg)
{
    int *counter = arg;
    (*counter)++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int apples = 0;
    pthread_create(&a, NULL, count, &apples);
    pthread_create(&b, NULL, count, &apples);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return apples; // NORACE
}
