// verdict: race
// As 04, but one caller takes the wrapper's 1 for an error code.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int try_enter(void)
{
    return pthread_mutex_trylock(&lock) == 0;
}

static void *right(void *arg)
{
    if (try_enter()) {
        shared++; // RACE
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *wrong(void *arg)
{
    if (try_enter() == 0)
        shared++; // RACE
    else
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, right, NULL);
    pthread_create(&b, NULL, wrong, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
