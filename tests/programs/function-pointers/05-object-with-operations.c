// verdict: race-free
// A small object with operations in a struct; every operation locks the object it works on.
#include <pthread.h>

struct counter;
struct operations {
    void (*add)(struct counter *, int);
    int (*get)(struct counter *);
};
struct counter {
    const struct operations *operations;
    pthread_mutex_t lock;
    int value;
};

static void locked_add(struct counter *self, int amount)
{
    pthread_mutex_lock(&self->lock);
    self->value += amount; // NORACE
    pthread_mutex_unlock(&self->lock);
}

static int locked_get(struct counter *self)
{
    pthread_mutex_lock(&self->lock);
    int value = self->value; // NORACE
    pthread_mutex_unlock(&self->lock);
    return value;
}

static const struct operations locked = {locked_add, locked_get};
static struct counter counter = {&locked, PTHREAD_MUTEX_INITIALIZER, 0};

static void *worker(void *arg)
{
    counter.operations->add(&counter, 2);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int seen = counter.operations->get(&counter);
    pthread_join(thread, NULL);
    return seen;
}
