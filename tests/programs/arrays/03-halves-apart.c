// verdict: race-free
// As 02 with half-open ranges: the halves meet but do not overlap.
#include <pthread.h>

static int data[4];

struct range {
    int from, to;
};

static void *negate(void *arg)
{
    struct range *range = arg;
    for (int i = range->from; i < range->to; i++)
        data[i] = -data[i]; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct range low = {0, 2}, high = {2, 4};
    for (int i = 0; i < 4; i++)
        data[i] = i; // NORACE
    pthread_create(&a, NULL, negate, &low);
    pthread_create(&b, NULL, negate, &high);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[2] == -2 ? 0 : 1;
}
