// verdict: race
// As 03, but the first call is one byte too long.
#include <pthread.h>
#include <string.h>

static unsigned char buffer[16];

static void *clear_low(void *arg)
{
    memset(buffer, 1, 9); // RACE
    return NULL;
}

static void *clear_high(void *arg)
{
    memset(&buffer[8], 2, 8); // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, clear_low, NULL);
    pthread_create(&b, NULL, clear_high, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return buffer[8];
}
