// verdict: race-free
// The racy handler exists but no path installs it.
#include <pthread.h>

static int events;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void sloppy_handler(void)
{
    events++; // NORACE
}

static void proper_handler(void)
{
    pthread_mutex_lock(&lock);
    events++; // NORACE
    pthread_mutex_unlock(&lock);
}

static void (*handler)(void) = sloppy_handler;

static void *worker(void *arg)
{
    handler(); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    handler = proper_handler; // NORACE
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return events;
}
