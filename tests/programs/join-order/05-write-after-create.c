// verdict: race
// Half of the configuration is written before the create, half after it.
#include <pthread.h>

static int width, height, area;

static void *worker(void *arg)
{
    int w = width; // NORACE
    int h = height; // RACE
    area = w * h;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    width = 3; // NORACE
    pthread_create(&thread, NULL, worker, NULL);
    height = 4; // RACE
    pthread_join(thread, NULL);
    return area;
}
