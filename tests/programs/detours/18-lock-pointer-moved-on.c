// verdict: race
// The lock of one element is taken, the pointer moves on, and the next element is written.
#include <pthread.h>
#include <stdlib.h>

struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
};

static struct node *first;

static void *worker(void *arg)
{
    struct node *node = first;
    while (node->next) {
        pthread_mutex_lock(&node->lock);
        struct node *locked = node;
        node = node->next;
        node->value++; // RACE
        pthread_mutex_unlock(&locked->lock);
    }
    return NULL;
}

static void *last(void *arg)
{
    struct node *node = first->next;
    pthread_mutex_lock(&node->lock);
    node->value++; // RACE
    pthread_mutex_unlock(&node->lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 2; i++) {
        struct node *node = calloc(1, sizeof *node);
        pthread_mutex_init(&node->lock, NULL);
        node->next = first;
        first = node;
    }
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, last, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
