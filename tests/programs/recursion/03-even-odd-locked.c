// verdict: race-free
// Mutual recursion with the lock handed down: locked at the top, released at the bottom.
#include <pthread.h>

static int steps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is_odd(int n);

static int is_even(int n)
{
    steps++; // NORACE
    if (n == 0) {
        pthread_mutex_unlock(&lock);
        return 1;
    }
    return is_odd(n - 1);
}

static int is_odd(int n)
{
    steps++; // NORACE
    if (n == 0) {
        pthread_mutex_unlock(&lock);
        return 0;
    }
    return is_even(n - 1);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    *(int *)arg = is_even(*(int *)arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int two = 2, three = 3;
    pthread_create(&a, NULL, worker, &two);
    pthread_create(&b, NULL, worker, &three);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return steps;
}
