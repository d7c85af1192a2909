// verdict: race
// The update is locked, the test of the result right after the unlock is not.
#include <pthread.h>

static int tickets = 3;
static int sold_out[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *seller(void *arg)
{
    int *out = arg;
    pthread_mutex_lock(&lock);
    tickets--; // RACE
    pthread_mutex_unlock(&lock);
    if (tickets == 0) // RACE
        *out = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, seller, &sold_out[0]);
    pthread_create(&second, NULL, seller, &sold_out[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return sold_out[0] + sold_out[1];
}
