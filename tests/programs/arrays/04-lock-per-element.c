// verdict: race-free
// lock[i] guards value[i]; both threads visit every element.
#include <pthread.h>

static int value[3];
static pthread_mutex_t lock[3] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *visit(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock[i]);
        value[i]++; // NORACE
        pthread_mutex_unlock(&lock[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, visit, NULL);
    pthread_create(&b, NULL, visit, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return value[0] + value[1] + value[2];
}
