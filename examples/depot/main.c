/* Six planted races of six kinds, each marked in the function that has it. */
#include "store.h"

#include <stdio.h>

static int visitors;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

static void *load(void *unused)
{
    struct store *self = store_shared();
    for (int i = 1; i <= 3; i++)
        store_put(self, i);
    store_log(self);
    self->is_full = 1; /* Race 5: shares its bytes with is_open */
    return unused;
}

static void *pick(void *unused)
{
    struct store *self = store_shared();
    int weight = store_take(self) * store_price(self);
    self->is_open = weight > 0;
    return unused;
}

/* Race 3, the other side. */
static void *keep_books(void *unused)
{
    struct store *self = store_shared();
    pthread_mutex_lock(&self->lock);
    self->log_entries = 0;
    pthread_mutex_unlock(&self->lock);
    store_price(self);
    return unused;
}

static void *visit(void *unused)
{
    pthread_mutex_lock(&door);
    visitors++;
    pthread_mutex_unlock(&door);
    return unused;
}

int main(void)
{
    pthread_t loader, picker, clerk, guests[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&guests[i], NULL, visit, NULL);
    pthread_create(&loader, NULL, load, NULL);
    pthread_create(&picker, NULL, pick, NULL);
    pthread_create(&clerk, NULL, keep_books, NULL);
    printf("%d visitors so far\n", visitors); /* Race 6: without the door's lock */
    pthread_join(loader, NULL);
    pthread_join(picker, NULL);
    pthread_join(clerk, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(guests[i], NULL);
    return 0;
}
