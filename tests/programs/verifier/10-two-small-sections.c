// verdict: race-free
// Read and write sit in separate atomic sections: an update may be lost, but nothing races.
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int shared;

static void *worker(void *arg)
{
    __VERIFIER_atomic_begin();
    int copy = shared; // NORACE
    __VERIFIER_atomic_end();
    copy += 1;
    __VERIFIER_atomic_begin();
    shared = copy; // NORACE
    __VERIFIER_atomic_end();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
