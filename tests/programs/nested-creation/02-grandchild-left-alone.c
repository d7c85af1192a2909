// verdict: race
// The child ends without joining its own child, which outlives the join of main.
#include <pthread.h>

static int written;

static void *grandchild(void *arg)
{
    written = 1; // RACE
    return NULL;
}

static void *child(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, grandchild, NULL);
    pthread_detach(thread);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, child, NULL);
    pthread_join(thread, NULL);
    return written; // RACE
}
