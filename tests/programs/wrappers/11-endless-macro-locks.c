// verdict: race-free
// unbounded
// Endless loops whose critical sections are written with a macro.
#include <pthread.h>

#define LOCKED(statement)            \
    do {                             \
        pthread_mutex_lock(&lock);   \
        statement;                   \
        pthread_mutex_unlock(&lock); \
    } while (0)

static unsigned ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *clock_hand(void *arg)
{
    for (;;) {
        LOCKED(ticks++); // NORACE
        LOCKED(if (ticks == 60) ticks = 0); // NORACE
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, clock_hand, NULL);
    pthread_create(&b, NULL, clock_hand, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
