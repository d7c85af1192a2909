// verdict: race
// The initialisation is safe, the later change of the same variable is not.
#include <pthread.h>

static int limit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_default(void)
{
    limit = 100; // NORACE
}

static void *worker(void *arg)
{
    pthread_once(&once, set_default);
    limit--; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return limit;
}
