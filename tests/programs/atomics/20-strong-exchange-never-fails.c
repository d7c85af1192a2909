// verdict: race-free
// A strong exchange fails only if it finds something else, which nobody writes here.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int slots[2];
static int failures;

static void *worker(void *arg)
{
    int expected = 0;
    if (!atomic_compare_exchange_strong((atomic_int *)arg, &expected, 1))
        failures++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &slots[0]);
    pthread_create(&b, NULL, worker, &slots[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return failures;
}
