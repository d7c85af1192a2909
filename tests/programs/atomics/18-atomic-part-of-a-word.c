// verdict: race
// An atomic access to the whole word, a plain one to a byte of it.
#include <pthread.h>

static unsigned word;

static void *whole(void *arg)
{
    __atomic_store_n(&word, 0x01010101u, __ATOMIC_SEQ_CST); // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    unsigned char *bytes = (unsigned char *)&word;
    pthread_create(&thread, NULL, whole, NULL);
    bytes[1] = 0xff; // RACE
    pthread_join(thread, NULL);
    return word == 0; // NORACE
}
