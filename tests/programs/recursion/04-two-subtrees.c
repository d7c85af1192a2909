// verdict: race-free
// A binary tree in an array: each thread walks its own subtree recursively.
#include <pthread.h>

static int tree[7];

static void mark(int node)
{
    if (node >= 7)
        return;
    tree[node]++; // NORACE
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
    int left = 1, right = 2;
    tree[0] = 1;
    pthread_create(&a, NULL, walk, &left);
    pthread_create(&b, NULL, walk, &right);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return tree[3] + tree[6] == 2 ? 0 : 1; // NORACE
}
