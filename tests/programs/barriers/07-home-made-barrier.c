// verdict: race-free
// A barrier for two made of a mutex, a condition variable and a count.
#include <pthread.h>
#include <stdint.h>

static int arrived;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int cells[2], seen[2];

static void meet(void)
{
    pthread_mutex_lock(&lock);
    arrived++; // NORACE
    if (arrived == 2)
        pthread_cond_broadcast(&all_here);
    while (arrived < 2) // NORACE
        pthread_cond_wait(&all_here, &lock);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    intptr_t me = (intptr_t)arg;
    cells[me] = 7; // NORACE
    meet();
    seen[me] = cells[1 - me]; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, (void *)(intptr_t)0);
    pthread_create(&b, NULL, worker, (void *)(intptr_t)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen[0] + seen[1] == 14 ? 0 : 1;
}
