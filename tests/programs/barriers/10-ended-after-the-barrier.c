// verdict: race-free
// Main joins a thread that ends after the barrier, so it comes after the other one's write.
#include <pthread.h>

static int written;
static pthread_barrier_t both;

static void *writer(void *unused)
{
    written++; // NORACE
    pthread_barrier_wait(&both);
    return NULL;
}

static void *waiter(void *unused)
{
    pthread_barrier_wait(&both);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&first, NULL, writer, NULL);
    pthread_create(&second, NULL, waiter, NULL);
    pthread_join(second, NULL);
    written++; // NORACE
    return 0;
}
