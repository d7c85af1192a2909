// verdict: race-free
// unbounded
// Two threads and a turn; waiting on turn changes nothing, stepping back does.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2], turn;
static int counter;

static void *worker(void *arg)
{
    int me = arg != NULL, other = !me;
    atomic_store(&wants[me], 1);
    while (atomic_load(&wants[other])) {
        if (atomic_load(&turn) != me) {
            atomic_store(&wants[me], 0);
            while (atomic_load(&turn) != me)
                ;
            atomic_store(&wants[me], 1);
        }
    }
    counter++; // NORACE
    atomic_store(&turn, other);
    atomic_store(&wants[me], 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int mark;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, &mark);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter;
}
