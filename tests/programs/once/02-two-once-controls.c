// verdict: race
// The same initialiser hangs on two different once controls, so it may run twice.
#include <pthread.h>

static int table;
static pthread_once_t once_a = PTHREAD_ONCE_INIT;
static pthread_once_t once_b = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table = 10; // RACE
}

static void *worker_a(void *arg)
{
    pthread_once(&once_a, fill);
    return NULL;
}

static void *worker_b(void *arg)
{
    pthread_once(&once_b, fill);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker_a, NULL);
    pthread_create(&b, NULL, worker_b, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return table;
}
