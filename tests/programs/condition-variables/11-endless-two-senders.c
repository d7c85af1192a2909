// verdict: race
// unbounded
// As 10 with two senders: both may see the empty mailbox and fill it at once.
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
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *sender(void *arg)
{
    for (;;) {
        await(0);
        message = *(int *)arg; // RACE
        announce(1);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int one = 1, two = 2, last = 0;
    pthread_create(&a, NULL, sender, &one);
    pthread_create(&b, NULL, sender, &two);
    while (last >= 0) {
        await(1);
        last = message; // RACE
        announce(0);
    }
    return 0;
}
