// verdict: race
// As 01, but the owner clears the flag before it uses the datum: both may own it.
#include <pthread.h>

static int taken, datum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int mine = 0;
    pthread_mutex_lock(&lock);
    if (!taken) { // NORACE
        taken = 1; // NORACE
        mine = 1;
    }
    pthread_mutex_unlock(&lock);
    if (mine) {
        pthread_mutex_lock(&lock);
        taken = 0; // NORACE
        pthread_mutex_unlock(&lock);
        datum++; // RACE
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return datum;
}
