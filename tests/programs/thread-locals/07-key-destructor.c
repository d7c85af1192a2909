// verdict: race
// The destructor of a key runs in each ending thread and writes a global.
#include <pthread.h>

static pthread_key_t key;
static int ended;
static int dummies[2];

static void at_thread_end(void *value)
{
    ended++; // RACE
}

static void *worker(void *arg)
{
    pthread_setspecific(key, arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_key_create(&key, at_thread_end);
    pthread_create(&a, NULL, worker, &dummies[0]);
    pthread_create(&b, NULL, worker, &dummies[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return ended; // NORACE
}
