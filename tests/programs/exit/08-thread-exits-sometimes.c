// verdict: race
// As 07, but the argument lets both threads pass the exit.
#include <pthread.h>

static int shared, argument;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void stop_if(int condition)
{
    if (condition)
        pthread_exit(NULL);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    shared++; // RACE
    pthread_mutex_unlock(&lock);
    stop_if(arg == NULL);
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &argument);
    pthread_create(&b, NULL, worker, &argument);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
