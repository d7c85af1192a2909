// verdict: race-free
// unbounded
// Endless threads, a field each; the common field is locked.
#include <pthread.h>

struct statistics {
    unsigned sent;
    unsigned received;
    unsigned total;
    pthread_mutex_t lock;
};

static struct statistics statistics = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count(struct statistics *s)
{
    pthread_mutex_lock(&s->lock);
    s->total++; // NORACE
    pthread_mutex_unlock(&s->lock);
}

static void *sender(void *arg)
{
    for (;;) {
        statistics.sent++; // NORACE
        count(&statistics);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sender, NULL);
    for (;;) {
        statistics.received++; // NORACE
        count(&statistics);
    }
}
