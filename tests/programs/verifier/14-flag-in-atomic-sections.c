// verdict: race-free
// unbounded
// The flag is read and written in atomic sections, and hands the plain datum over.
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int flag, datum;

static void *writer(void *arg)
{
    datum = 1; // NORACE
    __VERIFIER_atomic_begin();
    flag = 1; // NORACE
    __VERIFIER_atomic_end();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int seen = 0;
    pthread_create(&thread, NULL, writer, NULL);
    while (!seen) {
        __VERIFIER_atomic_begin();
        seen = flag; // NORACE
        __VERIFIER_atomic_end();
    }
    datum = 2; // NORACE
    pthread_join(thread, NULL);
    return datum;
}
