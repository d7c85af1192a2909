// verdict: race-free
// unbounded
// The depth of the recursion comes from outside; the lock is taken and released at each level.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static unsigned visited;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void visit(int depth)
{
    if (depth <= 0)
        return;
    pthread_mutex_lock(&lock);
    visited++; // NORACE
    pthread_mutex_unlock(&lock);
    visit(depth - 1);
}

static void *worker(void *arg)
{
    visit(__VERIFIER_nondet_int());
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
