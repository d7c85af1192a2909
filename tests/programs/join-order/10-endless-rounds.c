// verdict: race-free
// unbounded
// As 08, for ever.
#include <pthread.h>

static unsigned datum;

static void *worker(void *arg)
{
    datum = datum * 3 + 1; // NORACE
    return NULL;
}

int main(void)
{
    for (;;) {
        pthread_t thread;
        if (datum > 100) // NORACE
            datum = 0; // NORACE
        pthread_create(&thread, NULL, worker, NULL);
        pthread_join(thread, NULL);
    }
}
