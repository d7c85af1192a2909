// verdict: race-free
// Not a number divided by zero is not infinite, and less than nothing.
#include <pthread.h>

static double zero;
static int large, small;

static void *worker(void *arg)
{
    double nan = zero / zero;
    if (nan / zero > 1)
        large++; // NORACE
    if (nan / zero < 1)
        small++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return large + small;
}
