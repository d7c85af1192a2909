// verdict: race-free
// Plain variables, but every concurrent access goes through __atomic or __sync builtins.
#include <pthread.h>

static int hits;
static long bytes;

static void *worker(void *arg)
{
    __atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST); // NORACE
    __sync_fetch_and_add(&bytes, 512L); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    int early = __atomic_load_n(&hits, __ATOMIC_SEQ_CST); // NORACE
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return early <= hits && bytes == 1024 ? 0 : 1; // NORACE
}
