// verdict: race-free
// Two threads push nodes onto one list under one mutex.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *push(void *arg)
{
    struct node *node = malloc(sizeof *node);
    node->value = *(int *)arg; // NORACE
    pthread_mutex_lock(&lock);
    node->next = head; // NORACE
    head = node; // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int one = 1, two = 2, sum = 0;
    pthread_create(&a, NULL, push, &one);
    pthread_create(&b, NULL, push, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (struct node *node = head; node; node = node->next) // NORACE
        sum += node->value; // NORACE
    return sum == 3 ? 0 : 1;
}
