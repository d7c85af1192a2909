// verdict: race
// unbounded
// The flag is part of a word that another thread clears as a whole.
#include <pthread.h>

static union {
    unsigned char flags[4];
    unsigned word;
} busy;
static int shared;

static void *worker(void *arg)
{
    while (__atomic_exchange_n(&busy.flags[0], 1, __ATOMIC_SEQ_CST)) {
    }
    shared++; // RACE
    __atomic_store_n(&busy.flags[0], 0, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *reset(void *arg)
{
    __atomic_store_n(&busy.word, 0, __ATOMIC_SEQ_CST);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_create(&c, NULL, reset, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
