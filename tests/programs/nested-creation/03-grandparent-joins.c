// verdict: race-free
// The child leaves the handle of its child in a global; main joins both in turn.
#include <pthread.h>

static int written;
static pthread_t inner;

static void *grandchild(void *arg)
{
    written = 1; // NORACE
    return NULL;
}

static void *child(void *arg)
{
    pthread_create(&inner, NULL, grandchild, NULL);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, child, NULL);
    pthread_join(thread, NULL);
    pthread_join(inner, NULL);
    return written; // NORACE
}
