// verdict: race-free
// A recursive function that takes and gives back the lock around each visit.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void visit(int depth)
{
    if (depth > 0)
        visit(depth - 1);
    pthread_mutex_lock(&lock);
    shared++; // NORACE
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    visit(2);
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
