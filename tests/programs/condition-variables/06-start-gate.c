// verdict: race-free
// A broadcast opens the gate for two workers; main prepared everything before.
#include <pthread.h>

static int settings, open_gate;
static int seen[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

static void *worker(void *arg)
{
    int *out = arg;
    pthread_mutex_lock(&lock);
    while (!open_gate) // NORACE
        pthread_cond_wait(&opened, &lock);
    pthread_mutex_unlock(&lock);
    *out = settings; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &seen[0]);
    pthread_create(&b, NULL, worker, &seen[1]);
    settings = 8; // NORACE
    pthread_mutex_lock(&lock);
    open_gate = 1; // NORACE
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen[0] + seen[1] == 16 ? 0 : 1;
}
