// verdict: race
// A mutex is destroyed while another thread may still lock it.
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int shared;

void *work(void *arg)
{
    pthread_mutex_lock(&lock); // RACE
    shared++;
    pthread_mutex_unlock(&lock); // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_mutex_destroy(&lock); // RACE
    pthread_join(t, NULL);
    return 0;
}
