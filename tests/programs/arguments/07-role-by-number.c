// verdict: race-free
// One thread function, two roles: only the thread with number 1 ever writes.
#include <pthread.h>
#include <stdint.h>

static int total;
static int idle[2];

static void *act(void *arg)
{
    intptr_t role = (intptr_t)arg;
    if (role == 1)
        total += 5; // NORACE
    else
        idle[role != 0] = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, act, (void *)(intptr_t)0);
    pthread_create(&b, NULL, act, (void *)(intptr_t)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return total + idle[0];
}
