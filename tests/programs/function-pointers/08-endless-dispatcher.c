// verdict: race-free
// unbounded
// Endless dispatch through a table; both commands lock.
#include <pthread.h>

static int position;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void step(int delta)
{
    pthread_mutex_lock(&lock);
    position += delta; // NORACE
    pthread_mutex_unlock(&lock);
}

static void forward(void)
{
    step(1);
}

static void backward(void)
{
    step(-1);
}

static void (*const commands[])(void) = {forward, backward};

static void *dispatcher(void *arg)
{
    for (unsigned i = 0;; i ^= 1)
        commands[i]();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, dispatcher, NULL);
    pthread_create(&b, NULL, dispatcher, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
