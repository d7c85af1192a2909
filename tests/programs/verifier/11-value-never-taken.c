// verdict: race-free
// The unlocked branch needs a mode that no input can produce.
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

static int mode, shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    if (mode == 3) // NORACE
        shared = 9; // NORACE
    pthread_mutex_lock(&lock);
    shared += mode; // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    mode = __VERIFIER_nondet_bool() ? 1 : 2; // NORACE
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
