// verdict: race
// unbounded
// Each endless thread counts privately but flushes into the global without a lock.
#include <pthread.h>

static __thread int pending;
static int total;

static void *counter(void *arg)
{
    for (;;) {
        pending++; // NORACE
        if (pending == 2) { // NORACE
            total ^= pending; // RACE
            pending = 0;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, counter, NULL);
    pthread_create(&b, NULL, counter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
