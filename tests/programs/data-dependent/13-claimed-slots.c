// verdict: race-free
// A locked counter hands out slots; nobody gets the same one twice.
#include <pthread.h>

static int next_slot;
static int slots[4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int claim(void)
{
    pthread_mutex_lock(&lock);
    int mine = next_slot++; // NORACE
    pthread_mutex_unlock(&lock);
    return mine;
}

static void *worker(void *arg)
{
    for (int i = 0; i < 2; i++)
        slots[claim()] = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return slots[0] + slots[1] + slots[2] + slots[3] == 4 ? 0 : 1;
}
