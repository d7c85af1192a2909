// verdict: race
// The recursive function counts its calls in a global.
#include <pthread.h>

static int calls;

static int fibonacci(int n)
{
    calls++; // RACE
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void *worker(void *arg)
{
    *(int *)arg = fibonacci(2);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int results[2];
    pthread_create(&a, NULL, worker, &results[0]);
    pthread_create(&b, NULL, worker, &results[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return results[0] - results[1];
}
