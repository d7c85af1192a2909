// verdict: race
// One thread uses an atomic section, the other writes plainly.
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int shared;

static void *polite(void *arg)
{
    __VERIFIER_atomic_begin();
    shared = 1; // RACE
    __VERIFIER_atomic_end();
    return NULL;
}

static void *rude(void *arg)
{
    shared = 2; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, polite, NULL);
    pthread_create(&b, NULL, rude, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
