// verdict: race-free
// A long long becomes a float in one step: by way of double it would be another number.
#include <pthread.h>

static long long number = (1LL << 60) + (1LL << 36) + 1;
static int lower;

static void *worker(void *arg)
{
    if ((float)number < 0x1.000002p60f)
        lower++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return lower;
}
