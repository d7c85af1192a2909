// verdict: race
// unbounded
// The inner level is released by a callee that also drops the outer one.
#define _GNU_SOURCE
#include <pthread.h>

static int state;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void finish(void)
{
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&lock);
}

static void *loop(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        pthread_mutex_lock(&lock);
        finish();
        state++; // RACE
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, loop, NULL);
    pthread_create(&b, NULL, loop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
