// verdict: race
// The test is the wrong way round: the access happens when the mutex was busy.
#include <pthread.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *holder(void *arg)
{
    pthread_mutex_lock(&lock);
    counter = 10; // RACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *confused(void *arg)
{
    if (pthread_mutex_trylock(&lock))
        counter = 20; // RACE
    else
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, holder, NULL);
    pthread_create(&b, NULL, confused, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
