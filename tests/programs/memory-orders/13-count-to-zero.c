// verdict: race-free
// The last to drop its reference has acquired what the others did.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    atomic_int references;
    int value;
};

static void drop(struct node *node)
{
    if (atomic_fetch_sub_explicit(&node->references, 1, memory_order_acq_rel) == 1) {
        free(node); // NORACE
    }
}

static void *worker(void *argument)
{
    struct node *node = argument;
    int seen = node->value; // NORACE
    drop(node);
    return seen == 7 ? NULL : argument;
}

int main(void)
{
    pthread_t other;
    struct node *node = malloc(sizeof *node);
    atomic_init(&node->references, 2);
    node->value = 7;
    pthread_create(&other, NULL, worker, node);
    worker(node);
    pthread_join(other, NULL);
    return 0;
}
