// verdict: race-free
// A pure recursion; only its result meets the shared variable, under the lock.
#include <pthread.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int factorial(int n)
{
    return n <= 1 ? 1 : n * factorial(n - 1);
}

static void *worker(void *arg)
{
    int value = factorial(*(int *)arg);
    pthread_mutex_lock(&lock);
    total += value; // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int three = 3, four = 4;
    pthread_create(&a, NULL, worker, &three);
    pthread_create(&b, NULL, worker, &four);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return total == 30 ? 0 : 1;
}
