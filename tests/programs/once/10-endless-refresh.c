// verdict: race
// unbounded
// A refresher rewrites the lazily made value while readers use it.
#include <pthread.h>

static int value;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void)
{
    value = 1; // NORACE
}

static void *reader(void *arg)
{
    int last = 1;
    while (last) {
        pthread_once(&once, make);
        last = value; // RACE
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_once(&once, make);
    pthread_create(&thread, NULL, reader, NULL);
    for (int i = 1;; i = i % 9 + 1)
        value = i; // RACE
}
