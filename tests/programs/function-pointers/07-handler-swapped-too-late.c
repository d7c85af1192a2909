// verdict: race
// The pointer to the handler is replaced while the thread may be reading it.
#include <pthread.h>

static int calls;

static void first_handler(void)
{
    calls = 1; // NORACE
}

static void second_handler(void)
{
    calls = 2; // NORACE
}

static void (*handler)(void) = first_handler;

static void *worker(void *arg)
{
    void (*current)(void) = handler; // RACE
    current();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    handler = second_handler; // RACE
    pthread_join(thread, NULL);
    return calls;
}
