// verdict: race-free
// Two locks for four elements: element i belongs to lock i % 2, everywhere.
#include <pthread.h>

static int value[4];
static pthread_mutex_t stripe[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void add(int index, int amount)
{
    pthread_mutex_t *lock = &stripe[index % 2];
    pthread_mutex_lock(lock);
    value[index] += amount; // NORACE
    pthread_mutex_unlock(lock);
}

static void *upward(void *arg)
{
    for (int i = 0; i < 4; i++)
        add(i, 1);
    return NULL;
}

static void *downward(void *arg)
{
    for (int i = 3; i >= 0; i--)
        add(i, -1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, upward, NULL);
    pthread_create(&b, NULL, downward, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return value[0] + value[3];
}
