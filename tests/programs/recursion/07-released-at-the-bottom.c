// verdict: race
// The lock is released at the deepest call, but the way back up still writes.
#include <pthread.h>

static int depth_seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void dive(int depth)
{
    if (depth == 0) {
        pthread_mutex_unlock(&lock);
        return;
    }
    dive(depth - 1);
    depth_seen += depth; // RACE
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    dive(2);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return depth_seen;
}
