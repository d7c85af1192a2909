// verdict: race-free
// Each node has its own mutex; the walkers hold the node they change.
#include <pthread.h>
#include <stdlib.h>

struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
};

static struct node *make(int value, struct node *next)
{
    struct node *node = malloc(sizeof *node);
    pthread_mutex_init(&node->lock, NULL);
    node->value = value;
    node->next = next; // NORACE
    return node;
}

static void *increment_all(void *arg)
{
    for (struct node *node = arg; node; node = node->next) { // NORACE
        pthread_mutex_lock(&node->lock);
        node->value++; // NORACE
        pthread_mutex_unlock(&node->lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct node *list = make(1, make(2, NULL));
    pthread_create(&a, NULL, increment_all, list);
    pthread_create(&b, NULL, increment_all, list);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return list->value + list->next->value; // NORACE
}
