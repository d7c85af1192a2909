// verdict: race-free
// The result goes through a negation into a bool and is tested twice.
#include <pthread.h>
#include <stdbool.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    for (int round = 0; round < 2; round++) {
        bool mine = !pthread_mutex_trylock(&lock);
        if (mine)
            total += round; // NORACE
        if (mine)
            pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return total;
}
