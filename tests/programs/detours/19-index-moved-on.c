// verdict: race
// The index changes between the lock and the access.
#include <pthread.h>

static pthread_mutex_t locks[4] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};
static int values[4];

extern int __VERIFIER_nondet_int(void);

static void *worker(void *arg)
{
    int index = __VERIFIER_nondet_int() & 3;
    pthread_mutex_lock(&locks[index]);
    int locked = index;
    if (__VERIFIER_nondet_int())
        index = (index + 1) & 3;
    values[index]++; // RACE
    pthread_mutex_unlock(&locks[locked]);
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
