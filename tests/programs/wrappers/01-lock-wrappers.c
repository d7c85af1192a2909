// verdict: race-free
// All locking goes through two small functions without arguments.
#include <pthread.h>

static int counter;
static pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(void)
{
    pthread_mutex_lock(&big_lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&big_lock);
}

static void *worker(void *arg)
{
    enter();
    counter++; // NORACE
    leave();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    enter();
    counter += 2; // NORACE
    leave();
    pthread_join(thread, NULL);
    return counter;
}
