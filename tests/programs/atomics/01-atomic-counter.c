// verdict: race-free
// A C11 _Atomic counter: every access of it is atomic.
#include <pthread.h>

static _Atomic int counter;

static void *worker(void *arg)
{
    counter++; // NORACE
    counter += 2; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    int early = counter; // NORACE
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return early <= 6 ? 0 : 1;
}
