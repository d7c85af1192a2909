// verdict: race-free
// A counter under the mutex tells who is last; the last one frees.
#include <pthread.h>
#include <stdlib.h>

struct shared {
    pthread_mutex_t *lock;
    int users;
    int data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *user(void *arg)
{
    struct shared *shared = arg;
    pthread_mutex_lock(shared->lock); // NORACE
    shared->data++; // NORACE
    int last = --shared->users == 0; // NORACE
    pthread_mutex_unlock(&lock);
    if (last)
        free(shared); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct shared *shared = malloc(sizeof *shared);
    shared->lock = &lock;
    shared->users = 2;
    shared->data = 0;
    pthread_create(&a, NULL, user, shared);
    pthread_create(&b, NULL, user, shared);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
