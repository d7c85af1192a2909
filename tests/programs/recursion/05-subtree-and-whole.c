// verdict: race
// As 04, but one thread starts at the root: its walk contains the other's.
#include <pthread.h>

static int tree[3];

static void mark(int node)
{
    if (node >= 3)
        return;
    tree[node]++; // RACE
    mark(2 * node + 1);
    mark(2 * node + 2);
}

static void *walk(void *arg)
{
    mark(*(int *)arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int root = 0, right = 2;
    pthread_create(&a, NULL, walk, &root);
    pthread_create(&b, NULL, walk, &right);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return tree[2];
}
