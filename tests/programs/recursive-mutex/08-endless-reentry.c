// verdict: race-free
// unbounded
// Endless event loops whose handlers re-enter the recursive mutex.
#define _GNU_SOURCE
#include <pthread.h>

static int state;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void handle(int event)
{
    pthread_mutex_lock(&lock);
    state = event; // NORACE
    if (event == 0)
        handle(1);
    pthread_mutex_unlock(&lock);
}

static void *loop(void *arg)
{
    while (1) {
        pthread_mutex_lock(&lock);
        handle(state % 2); // NORACE
        state++; // NORACE
        pthread_mutex_unlock(&lock);
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
