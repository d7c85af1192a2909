// verdict: race
// Two threads work on halves; an inclusive bound makes them share the middle.
#include <pthread.h>

static int data[5];

struct range {
    int from, to;
};

static void *negate(void *arg)
{
    struct range *range = arg;
    for (int i = range->from; i <= range->to; i++)
        data[i] = -data[i]; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct range low = {0, 2}, high = {2, 4};
    for (int i = 0; i < 5; i++)
        data[i] = i; // NORACE
    pthread_create(&a, NULL, negate, &low);
    pthread_create(&b, NULL, negate, &high);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[2];
}
