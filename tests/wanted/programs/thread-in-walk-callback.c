// want: race unknown
// twalk calls its action many times: the thread that it creates is not the only one.
#include <pthread.h>
#include <search.h>
#include <stddef.h>

static int counter;
static pthread_t ids[16];
static int created;

static int order(const void *a, const void *b)
{
    return (a > b) - (a < b);
}

static void *work(void *arg)
{
    (void)arg;
    counter++;
    return NULL;
}

static void act(const void *node, VISIT visit, int depth)
{
    (void)node, (void)visit, (void)depth;
    pthread_create(&ids[created++], NULL, work, NULL);
}

int main(void)
{
    static int keys[2];
    void *root = NULL;
    tsearch(&keys[0], &root, order);
    tsearch(&keys[1], &root, order);
    twalk(root, act);
    for (int i = 0; i < created; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
