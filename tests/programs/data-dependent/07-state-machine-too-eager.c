// verdict: race
// As 06, but the reader is content with any state that is not EMPTY.
#include <pthread.h>

enum state { EMPTY, FILLING, READY };

static enum state state = EMPTY;
static int datum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void set_state(enum state next)
{
    pthread_mutex_lock(&lock);
    state = next; // NORACE
    pthread_mutex_unlock(&lock);
}

static void *writer(void *arg)
{
    set_state(FILLING);
    datum = 5; // RACE
    set_state(READY);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int seen = 5;
    pthread_create(&thread, NULL, writer, NULL);
    pthread_mutex_lock(&lock);
    enum state now = state; // NORACE
    pthread_mutex_unlock(&lock);
    if (now != EMPTY)
        seen = datum; // RACE
    pthread_join(thread, NULL);
    return seen;
}
