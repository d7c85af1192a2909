// verdict: race-free
// Both threads touch the variable only between atomic begin and end.
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int shared;

static void *worker(void *arg)
{
    __VERIFIER_atomic_begin();
    shared = shared + 1; // NORACE
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
    return shared == 2 ? 0 : 1; // NORACE
}
