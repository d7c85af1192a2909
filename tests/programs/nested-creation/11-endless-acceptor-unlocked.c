// verdict: race
// unbounded
// As 10, but the acceptor reads the statistic without the lock.
#include <pthread.h>

static unsigned clients;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *serve(void *arg)
{
    pthread_mutex_lock(&lock);
    clients++; // RACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *accept_clients(void *arg)
{
    while (clients < 1000) { // RACE
        pthread_t thread;
        pthread_create(&thread, NULL, serve, NULL);
        pthread_detach(thread);
    }
    return NULL;
}

int main(void)
{
    pthread_t acceptor;
    pthread_create(&acceptor, NULL, accept_clients, NULL);
    pthread_join(acceptor, NULL);
    return 0;
}
