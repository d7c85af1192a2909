// verdict: race
// Main sets a value after creating the child; the grandchild reads it.
#include <pthread.h>

static int setting;
static int copy;

static void *grandchild(void *arg)
{
    copy = setting; // RACE
    return NULL;
}

static void *child(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, grandchild, NULL);
    pthread_join(thread, NULL);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, child, NULL);
    setting = 1; // RACE
    pthread_join(thread, NULL);
    return copy; // NORACE
}
