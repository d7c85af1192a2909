// verdict: race
// One thread takes the spin lock, the other a mutex.
#define _XOPEN_SOURCE 700
#include <pthread.h>

static int counter;
static pthread_spinlock_t spin;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *spinner(void *arg)
{
    pthread_spin_lock(&spin);
    counter += 1; // RACE
    pthread_spin_unlock(&spin);
    return NULL;
}

static void *sleeper(void *arg)
{
    pthread_mutex_lock(&mutex);
    counter += 2; // RACE
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, spinner, NULL);
    pthread_create(&b, NULL, sleeper, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
