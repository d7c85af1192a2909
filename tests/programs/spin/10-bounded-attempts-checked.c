// verdict: race-free
// As 09, but after the last failed attempt the thread goes home.
#include <pthread.h>

static int word;
static int counter;

static void *worker(void *arg)
{
    int owned = 0;
    for (int attempt = 0; attempt < 2 && !owned; attempt++)
        owned = __sync_bool_compare_and_swap(&word, 0, 1);
    if (!owned)
        return NULL;
    counter++; // NORACE
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
