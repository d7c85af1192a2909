/* A store of parts, filled by loaders, emptied by pickers, watched by a clerk. */
#ifndef STORE_H
#define STORE_H

#include <pthread.h>

struct part {
    struct part *next;
    int weight;
};

struct store {
    pthread_mutex_t lock;
    pthread_mutex_t log_lock;
    pthread_rwlock_t prices_lock;
    struct part *parts;
    int count;
    int log_entries;
    int price;
    unsigned is_open : 1;
    unsigned is_full : 1;
};

extern struct store *store;

struct store *store_new(void);
struct store *store_shared(void);
void store_put(struct store *self, int weight);
int store_take(struct store *self);
void store_log(struct store *self);
int store_price(struct store *self);

#endif
