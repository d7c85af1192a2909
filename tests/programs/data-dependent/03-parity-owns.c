// verdict: race-free
// Each thread skips the elements of the other parity.
#include <pthread.h>

static int data[4];

static void *worker(void *arg)
{
    int parity = *(int *)arg;
    for (int i = 0; i < 4; i++) {
        if (i % 2 != parity)
            continue;
        data[i] += parity + 1; // NORACE
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int even = 0, odd = 1;
    pthread_create(&a, NULL, worker, &even);
    pthread_create(&b, NULL, worker, &odd);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[2] + data[3] == 3 ? 0 : 1;
}
