// verdict: race
// One thread uses lock i % 2 for element i, the other lock i / 2: they differ for 1 and 2.
#include <pthread.h>

static int value[4];
static pthread_mutex_t stripe[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *by_remainder(void *arg)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&stripe[i % 2]);
        value[i] += 1; // RACE
        pthread_mutex_unlock(&stripe[i % 2]);
    }
    return NULL;
}

static void *by_half(void *arg)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&stripe[i / 2]);
        value[i] -= 1; // RACE
        pthread_mutex_unlock(&stripe[i / 2]);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, by_remainder, NULL);
    pthread_create(&b, NULL, by_half, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return value[1];
}
