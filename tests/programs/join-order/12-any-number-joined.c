// verdict: race-free
// unbounded
// Nobody knows how many workers there are, but all of them are waited for.
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    total++; // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

static void run(pthread_t *workers, int count)
{
    for (int i = 0; i < count; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = count - 1; i >= 0; i--)
        pthread_join(workers[i], NULL);
}

int main(void)
{
    int count = __VERIFIER_nondet_int();
    if (count < 0 || count > 1000)
        return 0;
    pthread_t *workers = malloc((count + 1) * sizeof *workers);
    run(workers, count);
    free(workers);
    total = 0; // NORACE
    return 0;
}
