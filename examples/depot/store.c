#include "store.h"

#include <stdlib.h>

struct store *store;

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

struct store *store_new(void)
{
    struct store *self = calloc(1, sizeof *self);
    if (self == NULL)
        abort();
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->log_lock, NULL);
    pthread_rwlock_init(&self->prices_lock, NULL);
    return self;
}

/* Race 1: the test holds no lock. */
struct store *store_shared(void)
{
    if (store == NULL) {
        pthread_mutex_lock(&making);
        if (store == NULL)
            store = store_new();
        pthread_mutex_unlock(&making);
    }
    return store;
}

/* Race 2: the lock is given back before the count is changed. */
void store_put(struct store *self, int weight)
{
    struct part *part = malloc(sizeof *part);
    if (part == NULL)
        return;
    part->weight = weight;
    pthread_mutex_lock(&self->lock);
    part->next = self->parts;
    self->parts = part;
    pthread_mutex_unlock(&self->lock);
    self->count++;
}

int store_take(struct store *self)
{
    int weight = 0;
    pthread_mutex_lock(&self->lock);
    struct part *part = self->parts;
    if (part != NULL) {
        self->parts = part->next;
        self->count--;
        weight = part->weight;
    }
    pthread_mutex_unlock(&self->lock);
    free(part);
    return weight;
}

/* Race 3: the log has a lock of its own, which the clerk does not take. */
void store_log(struct store *self)
{
    pthread_mutex_lock(&self->log_lock);
    self->log_entries++;
    pthread_mutex_unlock(&self->log_lock);
}

/* Race 4: a read lock lets other readers in, and this reader writes. */
int store_price(struct store *self)
{
    pthread_rwlock_rdlock(&self->prices_lock);
    if (self->price == 0)
        self->price = 10;
    int price = self->price;
    pthread_rwlock_unlock(&self->prices_lock);
    return price;
}
