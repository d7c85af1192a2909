// verdict: race-free
// A recursive function takes the recursive mutex at each level and writes on the way back too.
#define _XOPEN_SOURCE 700
#include <pthread.h>

static int visits;
static pthread_mutex_t lock;

static void descend(int depth)
{
    pthread_mutex_lock(&lock);
    visits++; // NORACE
    if (depth > 0)
        descend(depth - 1);
    visits++; // NORACE
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    descend(2);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_t a, b;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attr);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return visits == 12 ? 0 : 1;
}
