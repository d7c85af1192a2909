// verdict: race-free
// unbounded
// Endless readers and an endless writer of a small table.
#include <pthread.h>

static int table[4];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg)
{
    unsigned key = 0;
    int sum = 0;
    while (sum != 12345) {
        pthread_rwlock_rdlock(&lock);
        sum += table[key % 4]; // NORACE
        pthread_rwlock_unlock(&lock);
        key++;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, reader, NULL);
    for (unsigned i = 0;; i++) {
        pthread_rwlock_wrlock(&lock);
        table[i % 4] = (int)(i & 7); // NORACE
        pthread_rwlock_unlock(&lock);
    }
}
