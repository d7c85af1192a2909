// verdict: race-free
// The second thread is created after the first was joined.
#include <pthread.h>

static int stage;

static void *first(void *arg)
{
    stage = 1; // NORACE
    return NULL;
}

static void *second(void *arg)
{
    if (stage == 1) // NORACE
        stage = 2; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, second, NULL);
    pthread_join(thread, NULL);
    return stage == 2 ? 0 : 1;
}
