// verdict: race
// What was read from a variable says nothing about it once it has been set anew.
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

static int mode;
static int shared;

static void *worker(void *arg)
{
    if (mode == 1) // NORACE
        shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    mode = __VERIFIER_nondet_bool();
    int seen = mode;
    mode = __VERIFIER_nondet_bool();
    if (seen != 0)
        return 0;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
