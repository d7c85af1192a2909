// verdict: race-free
// As 09, but there are only two visitors and the unlocked write waits for a third.
#include <pthread.h>

static int visits, datum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *visitor(void *arg)
{
    pthread_mutex_lock(&lock);
    int number = ++visits; // NORACE
    pthread_mutex_unlock(&lock);
    if (number == 3)
        datum = 2; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, visitor, NULL);
    pthread_create(&b, NULL, visitor, NULL);
    datum = 1; // NORACE
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return datum == 1 ? 0 : 1;
}
