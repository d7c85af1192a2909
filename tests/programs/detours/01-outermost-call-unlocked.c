// verdict: race
// Only the inner calls of a recursive function run under the lock.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void visit(int depth)
{
    if (depth > 0) {
        pthread_mutex_lock(&lock);
        visit(depth - 1);
        pthread_mutex_unlock(&lock);
    }
    shared++; // RACE
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    shared++; // RACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    visit(1);
    pthread_join(thread, NULL);
    return 0;
}
