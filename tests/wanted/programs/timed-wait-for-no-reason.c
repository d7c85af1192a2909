// want: race unknown
// A wait with a time limit may end with success for no reason.
#include <pthread.h>
#include <time.h>
static int x;
static void *run(void *arg)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec when = {1, 0};
    pthread_mutex_lock(&own);
    int failed = pthread_cond_timedwait(&never, &own, &when);
    pthread_mutex_unlock(&own);
    if (failed == 0)
        x++;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
