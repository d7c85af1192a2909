// verdict: race-free
// Main reads the result only after it joined the writer.
#include <pthread.h>

static int result;

static void *compute(void *arg)
{
    for (int i = 1; i <= 3; i++)
        result += i; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, compute, NULL);
    pthread_join(thread, NULL);
    return result == 6 ? 0 : 1; // NORACE
}
