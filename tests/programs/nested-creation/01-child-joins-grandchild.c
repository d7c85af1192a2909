// verdict: race-free
// The child joins its own child, main joins the child: main may read what the grandchild wrote.
#include <pthread.h>

static int written;

static void *grandchild(void *arg)
{
    written = 1; // NORACE
    return NULL;
}

static void *child(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, grandchild, NULL);
    pthread_join(thread, NULL);
    written++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, child, NULL);
    pthread_join(thread, NULL);
    return written == 2 ? 0 : 1; // NORACE
}
