// verdict: race
// As 08, but the second pair starts one element too early.
#include <pthread.h>

static int pairs[4];

static void *swap(void *arg)
{
    int *pair = arg;
    int keep = pair[0]; // RACE
    pair[0] = pair[1]; // RACE
    pair[1] = keep; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 4; i++)
        pairs[i] = i;
    pthread_create(&a, NULL, swap, &pairs[0]);
    pthread_create(&b, NULL, swap, &pairs[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return pairs[0];
}
