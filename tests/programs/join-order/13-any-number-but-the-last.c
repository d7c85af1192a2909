// verdict: race
// unbounded
// Nobody knows how many workers there are, and the last of them is not waited for.
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    total++; // RACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    int count = __VERIFIER_nondet_int();
    if (count < 1 || count > 1000)
        return 0;
    pthread_t *workers = malloc(count * sizeof *workers);
    for (int i = 0; i < count; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < count - 1; i++)
        pthread_join(workers[i], NULL);
    total = 0; // RACE
    return 0;
}
