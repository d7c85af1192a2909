// verdict: race
// unbounded
// The new node is announced before it is linked, and someone looks at it then.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top, announced;
static struct node nodes[2];

static void *push(void *arg)
{
    struct node *node = arg, *old;
    node->value = 1; // NORACE
    atomic_store(&announced, node);
    do {
        old = atomic_load(&top);
        node->next = old; // RACE
    } while (!atomic_compare_exchange_strong(&top, &old, node));
    return NULL;
}

static void *look(void *arg)
{
    struct node *node = atomic_load(&announced);
    return node == NULL || node->next == NULL ? NULL : arg; // RACE
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
