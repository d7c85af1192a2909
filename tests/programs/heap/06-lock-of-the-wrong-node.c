// verdict: race
// The walker locks a node and changes its successor.
#include <pthread.h>
#include <stdlib.h>

struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
};

static struct node *make(struct node *next)
{
    struct node *node = malloc(sizeof *node);
    pthread_mutex_init(&node->lock, NULL);
    node->value = 0; // NORACE
    node->next = next;
    return node;
}

static void *bump_next(void *arg)
{
    struct node *node = arg;
    pthread_mutex_lock(&node->lock);
    node->next->value++; // RACE
    pthread_mutex_unlock(&node->lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct node *list = make(make(NULL));
    pthread_create(&thread, NULL, bump_next, list);
    pthread_mutex_lock(&list->next->lock);
    list->next->value++; // RACE
    pthread_mutex_unlock(&list->next->lock);
    pthread_join(thread, NULL);
    return list->next->value;
}
