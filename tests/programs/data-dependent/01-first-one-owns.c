// verdict: race-free
// Who finds the flag clear, under the lock, owns the datum from then on.
#include <pthread.h>

static int taken, datum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int mine = 0;
    pthread_mutex_lock(&lock);
    if (!taken) { // NORACE
        taken = 1; // NORACE
        mine = 1;
    }
    pthread_mutex_unlock(&lock);
    if (mine)
        datum++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return datum == 1 ? 0 : 1; // NORACE
}
