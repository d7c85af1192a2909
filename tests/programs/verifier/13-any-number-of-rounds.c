// verdict: race
// unbounded
// After any number of locked rounds there is one unlocked access.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static unsigned shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    while (__VERIFIER_nondet_int() > 0) {
        pthread_mutex_lock(&lock);
        shared++; // RACE
        pthread_mutex_unlock(&lock);
    }
    shared = 0; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
