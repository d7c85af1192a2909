// verdict: race-free
// With cancellation disabled the worker always reaches the end of its locked update.
#include <pthread.h>

static int balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    pthread_mutex_lock(&lock);
    balance += 5; // NORACE
    pthread_testcancel();
    balance += 5; // NORACE
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(old, NULL);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
    pthread_mutex_lock(&lock);
    balance *= 2; // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return balance >= 10 ? 0 : 1; // NORACE
}
