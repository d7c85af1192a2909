// verdict: race
// Copying the struct reads all of it, also the field that the other thread writes.
#include <pthread.h>

struct reading {
    int sensor;
    int value;
    int time;
};

static struct reading latest;

static void *clock_tick(void *arg)
{
    latest.time = 5; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, clock_tick, NULL);
    struct reading copy = latest; // RACE
    pthread_join(thread, NULL);
    return copy.sensor + copy.value;
}
