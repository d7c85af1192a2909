// verdict: race
// unbounded
// A correct compare-and-swap lock that is released one statement too early.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int owner;
static int first, second;

static void *worker(void *arg)
{
    int nobody = 0;
    while (!atomic_compare_exchange_strong(&owner, &nobody, 1))
        nobody = 0;
    first++; // NORACE
    atomic_store(&owner, 0);
    second++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return first + second;
}
