// verdict: race
// Of two interchangeable callbacks only one takes the lock.
#include <pthread.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void safe_add(void)
{
    pthread_mutex_lock(&lock);
    counter++; // RACE
    pthread_mutex_unlock(&lock);
}

static void fast_add(void)
{
    counter++; // RACE
}

static void (*const variants[2])(void) = {safe_add, fast_add};

static void *worker(void *arg)
{
    int variant = *(int *)arg;
    variants[variant]();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int safe = 0, fast = 1;
    pthread_create(&a, NULL, worker, &safe);
    pthread_create(&b, NULL, worker, &fast);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
