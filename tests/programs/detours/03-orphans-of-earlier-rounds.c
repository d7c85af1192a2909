// verdict: race
// unbounded
// Each child is joined, but the grandchild it leaves behind meets the next child.
#include <pthread.h>

static int shared;

static void *orphan(void *arg)
{
    shared++; // RACE
    return NULL;
}

static void *child(void *arg)
{
    pthread_t thread;
    shared++; // RACE
    pthread_create(&thread, NULL, orphan, NULL);
    return NULL;
}

int main(void)
{
    while (1) {
        pthread_t thread;
        pthread_create(&thread, NULL, child, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
