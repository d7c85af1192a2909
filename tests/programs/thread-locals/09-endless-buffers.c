// verdict: race-free
// unbounded
// Endless writers to a thread-local buffer, with a locked global total.
#include <pthread.h>

static __thread unsigned char buffer[4];
static unsigned total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *arg)
{
    for (unsigned i = 0;; i++) {
        buffer[i % 4]++; // NORACE
        if (i % 4 == 3) {
            pthread_mutex_lock(&lock);
            total += buffer[0]; // NORACE
            pthread_mutex_unlock(&lock);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
