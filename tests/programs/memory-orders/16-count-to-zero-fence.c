// verdict: race-free
// Only the last one acquires, by a fence.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    atomic_int references;
    int value;
};

static void drop(struct node *node)
{
    if (atomic_fetch_sub_explicit(&node->references, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
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
