// verdict: race-free
// Two memset calls on the two halves of one buffer.
#include <pthread.h>
#include <string.h>

static unsigned char buffer[16];

static void *clear_low(void *arg)
{
    memset(buffer, 1, 8); // NORACE
    return NULL;
}

static void *clear_high(void *arg)
{
    memset(buffer + 8, 2, 8); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, clear_low, NULL);
    pthread_create(&b, NULL, clear_high, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return buffer[7] + buffer[8] == 3 ? 0 : 1; // NORACE
}
