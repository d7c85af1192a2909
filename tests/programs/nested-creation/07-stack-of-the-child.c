// verdict: race-free
// The grandchildren work on the stack of the child, which waits for them.
#include <pthread.h>

static void *half(void *arg)
{
    int *number = arg;
    *number /= 2; // NORACE
    return NULL;
}

static void *child(void *arg)
{
    pthread_t threads[2];
    int numbers[2] = {10, 20};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, half, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    *(int *)arg = numbers[0] + numbers[1]; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, child, &sum);
    pthread_join(thread, NULL);
    return sum == 15 ? 0 : 1; // NORACE
}
