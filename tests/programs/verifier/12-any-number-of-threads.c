// verdict: race-free
// unbounded
// Any number of threads, all with atomic sections.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static unsigned shared;

static void *worker(void *arg)
{
    __VERIFIER_atomic_begin();
    shared++; // NORACE
    __VERIFIER_atomic_end();
    return NULL;
}

int main(void)
{
    while (__VERIFIER_nondet_int()) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, NULL);
    }
    return 0;
}
