// verdict: race
// Gives up spinning after two attempts and goes ahead without the lock.
#include <pthread.h>

static int word;
static int counter;

static void *worker(void *arg)
{
    int owned = 0;
    for (int attempt = 0; attempt < 2 && !owned; attempt++)
        owned = __sync_bool_compare_and_swap(&word, 0, 1);
    counter++; // RACE
    if (owned)
        __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
