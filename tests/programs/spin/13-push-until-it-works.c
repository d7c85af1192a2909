// verdict: race-free
// unbounded
// Pushes onto a stack; an attempt in vain leaves a stale link in a node nobody else knows.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;
static struct node nodes[2];

static void *push(void *arg)
{
    struct node *node = arg, *old;
    node->value = 1; // NORACE
    do {
        old = atomic_load(&top);
        node->next = old; // NORACE
    } while (!atomic_compare_exchange_strong(&top, &old, node));
    return NULL;
}

static void *look(void *arg)
{
    struct node *first = atomic_load(&top);
    if (first == NULL || first->next == NULL) // NORACE
        return NULL;
    return first->next->value ? arg : NULL; // NORACE
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, push, &nodes[0]);
    pthread_create(&b, NULL, push, &nodes[1]);
    pthread_create(&c, NULL, look, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
