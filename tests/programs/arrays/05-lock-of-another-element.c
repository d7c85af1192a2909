// verdict: race
// One thread guards value[i] with lock[i], the other with lock[i + 1].
#include <pthread.h>

static int value[2];
static pthread_mutex_t lock[3] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *straight(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock[i]);
        value[i]++; // RACE
        pthread_mutex_unlock(&lock[i]);
    }
    return NULL;
}

static void *shifted(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock[i + 1]);
        value[i]++; // RACE
        pthread_mutex_unlock(&lock[i + 1]);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, straight, NULL);
    pthread_create(&b, NULL, shifted, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return value[0] + value[1];
}
