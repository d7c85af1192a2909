// verdict: race
// Visits are counted under the lock; the second visitor and main write without it.
#include <pthread.h>

static int visits, datum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *visitor(void *arg)
{
    pthread_mutex_lock(&lock);
    int number = ++visits; // NORACE
    pthread_mutex_unlock(&lock);
    if (number == 2)
        datum = 2; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, visitor, NULL);
    pthread_create(&b, NULL, visitor, NULL);
    datum = 1; // RACE
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return datum;
}
