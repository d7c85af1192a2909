// verdict: race
// Main may return at any moment, but until then its two detached threads race.
#include <pthread.h>

static int shared;

static void *worker(void *arg)
{
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_detach(a);
    pthread_detach(b);
    return 0;
}
