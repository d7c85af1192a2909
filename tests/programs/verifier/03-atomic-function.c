// verdict: race-free
// The body of a function with the magic prefix runs atomically.
#include <pthread.h>

static int low, high;

void __VERIFIER_atomic_widen(int amount)
{
    low -= amount; // NORACE
    high += amount; // NORACE
}

int __VERIFIER_atomic_width(void)
{
    return high - low; // NORACE
}

static void *worker(void *arg)
{
    __VERIFIER_atomic_widen(2);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    int width = __VERIFIER_atomic_width();
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return width % 4;
}
