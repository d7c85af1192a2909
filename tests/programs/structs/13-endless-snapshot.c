// verdict: race
// unbounded
// An endless reporter copies the whole struct; the lock covers only one of its fields.
#include <pthread.h>

struct statistics {
    unsigned sent;
    unsigned failed;
};

static struct statistics statistics;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sender(void *arg)
{
    for (;;) {
        statistics.sent++; // RACE
        pthread_mutex_lock(&lock);
        statistics.failed++; // NORACE
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    unsigned last = 0;
    pthread_create(&thread, NULL, sender, NULL);
    while (last != 1000) {
        pthread_mutex_lock(&lock);
        struct statistics copy = statistics; // RACE
        pthread_mutex_unlock(&lock);
        last = copy.failed;
    }
    return 0;
}
