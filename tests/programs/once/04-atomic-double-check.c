// verdict: race-free
// Double-checked initialisation done right, with an atomic flag.
#include <pthread.h>
#include <stdatomic.h>

static int value;
static atomic_int done;
static int seen[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int me = *(int *)arg;
    if (!atomic_load(&done)) {
        pthread_mutex_lock(&lock);
        if (!atomic_load(&done)) {
            value = 5; // NORACE
            atomic_store(&done, 1);
        }
        pthread_mutex_unlock(&lock);
    }
    seen[me] = value; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int zero = 0, one = 1;
    pthread_create(&a, NULL, worker, &zero);
    pthread_create(&b, NULL, worker, &one);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen[0] + seen[1] == 10 ? 0 : 1;
}
