// verdict: race-free
// One function serves as child and as grandchild; the level tells them apart.
#include <pthread.h>
#include <stdint.h>

static int levels[3];

static void *worker(void *arg)
{
    intptr_t level = (intptr_t)arg;
    levels[level] = 1; // NORACE
    if (level < 2) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, (void *)(level + 1));
        levels[level] = 2; // NORACE
        pthread_join(thread, NULL);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, (void *)(intptr_t)0);
    pthread_join(thread, NULL);
    return levels[0] + levels[1] + levels[2] == 5 ? 0 : 1;
}
