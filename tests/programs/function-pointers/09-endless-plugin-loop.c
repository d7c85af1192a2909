// verdict: race
// unbounded
// One of three plugins of the endless loop forgets the lock.
#include <pthread.h>

static int position;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void locked_plugin(void)
{
    pthread_mutex_lock(&lock);
    position = 1; // RACE
    pthread_mutex_unlock(&lock);
}

static void idle_plugin(void)
{
}

static void sloppy_plugin(void)
{
    position = 2; // RACE
}

static void (*const plugins[])(void) = {locked_plugin, idle_plugin, sloppy_plugin};

static void *loop(void *arg)
{
    for (unsigned i = 0;; i = (i + 1) % 3)
        plugins[i]();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, loop, NULL);
    pthread_create(&b, NULL, loop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
