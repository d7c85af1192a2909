// verdict: race
// unbounded
// The lock is fine, but attempts in vain are counted in a plain variable.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static int attempts, counter;

static void *worker(void *arg)
{
    while (atomic_exchange(&taken, 1))
        attempts++; // RACE
    counter++; // NORACE
    atomic_store(&taken, 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_create(&c, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return counter;
}
