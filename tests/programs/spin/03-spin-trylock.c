// verdict: race-free
// pthread_spin_trylock, with its result checked.
#define _XOPEN_SOURCE 700
#include <pthread.h>

static int counter;
static pthread_spinlock_t lock;

static void *worker(void *arg)
{
    if (pthread_spin_trylock(&lock))
        return NULL;
    counter++; // NORACE
    pthread_spin_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
