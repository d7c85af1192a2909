// verdict: race-free
// Whole structs are assigned in both directions, under one lock.
#include <pthread.h>

struct reading {
    int sensor;
    int value;
};

static struct reading latest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct reading get(void)
{
    pthread_mutex_lock(&lock);
    struct reading copy = latest; // NORACE
    pthread_mutex_unlock(&lock);
    return copy;
}

static void put(struct reading reading)
{
    pthread_mutex_lock(&lock);
    latest = reading; // NORACE
    pthread_mutex_unlock(&lock);
}

static void *sensor(void *arg)
{
    put((struct reading){1, 20});
    put((struct reading){1, 21});
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sensor, NULL);
    struct reading seen = get();
    pthread_join(thread, NULL);
    return seen.value;
}
