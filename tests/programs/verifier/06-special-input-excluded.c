// verdict: race-free
// As 05, but an assumption rules the special value out.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

static int input, shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    if (input == 4711) { // NORACE
        shared++; // NORACE
    } else {
        pthread_mutex_lock(&lock);
        shared++; // NORACE
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    input = __VERIFIER_nondet_int(); // NORACE
    __VERIFIER_assume(input >= 0 && input < 100);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return shared;
}
