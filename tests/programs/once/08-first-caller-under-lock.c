// verdict: race-free
// A home-made once: flag and initialisation under one mutex; the reads come after.
#include <pthread.h>

static int done, value;
static int seen[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void ensure(void)
{
    pthread_mutex_lock(&lock);
    if (!done) { // NORACE
        value = 4; // NORACE
        done = 1; // NORACE
    }
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    ensure();
    *(int *)arg = value; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &seen[0]);
    pthread_create(&b, NULL, worker, &seen[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen[0] + seen[1] == 8 ? 0 : 1;
}
