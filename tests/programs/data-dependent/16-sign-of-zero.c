// verdict: race
// A zero has a sign: what is divided by the negative one is minus infinity.
#include <pthread.h>

static double zero = -0.0;
static int below;

static void *worker(void *arg)
{
    if (1.0 / zero < 0)
        below++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
