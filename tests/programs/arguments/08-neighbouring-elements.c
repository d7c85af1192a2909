// verdict: race-free
// Pointer arithmetic on the argument stays inside the thread's own pair of elements.
#include <pthread.h>

static int pairs[4];

static void *swap(void *arg)
{
    int *pair = arg;
    int keep = *pair; // NORACE
    *pair = pair[1]; // NORACE
    *(pair + 1) = keep; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 4; i++)
        pairs[i] = i;
    pthread_create(&a, NULL, swap, pairs);
    pthread_create(&b, NULL, swap, pairs + 2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return pairs[0] == 1 && pairs[3] == 2 ? 0 : 1;
}
