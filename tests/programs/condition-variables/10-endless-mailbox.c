// verdict: race-free
// unbounded
// An endless mailbox: the message is read and written outside the lock, by turns.
#include <pthread.h>

static int message, occupied;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void await(int state)
{
    pthread_mutex_lock(&lock);
    while (occupied != state) // NORACE
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void announce(int state)
{
    pthread_mutex_lock(&lock);
    occupied = state; // NORACE
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *sender(void *arg)
{
    for (;;) {
        await(0);
        message = (message + 1) % 8; // NORACE
        announce(1);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int last = 0;
    pthread_create(&thread, NULL, sender, NULL);
    while (last >= 0) {
        await(1);
        last = message; // NORACE
        announce(0);
    }
    return 0;
}
