// verdict: race-free
// The rwlock lives beside its datum in a heap object that both threads reach by argument.
#include <pthread.h>
#include <stdlib.h>

struct cell {
    pthread_rwlock_t lock;
    int value;
};

static void *bump(void *arg)
{
    struct cell *cell = arg;
    pthread_rwlock_wrlock(&cell->lock);
    cell->value++; // NORACE
    pthread_rwlock_unlock(&cell->lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct cell *cell = malloc(sizeof *cell);
    pthread_rwlock_init(&cell->lock, NULL);
    cell->value = 1; // NORACE
    pthread_create(&thread, NULL, bump, cell);
    pthread_rwlock_rdlock(&cell->lock);
    int seen = cell->value; // NORACE
    pthread_rwlock_unlock(&cell->lock);
    pthread_join(thread, NULL);
    pthread_rwlock_destroy(&cell->lock);
    free(cell); // NORACE
    return seen;
}
