// verdict: race-free
// Both threads loop over the same array, but the range of one is empty.
#include <pthread.h>

static int data[3];

struct range {
    int from, count;
};

static void *add_one(void *arg)
{
    struct range range = *(struct range *)arg;
    for (int i = range.from; i < range.from + range.count; i++)
        data[i]++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct range all = {0, 3}, none = {1, 0};
    pthread_create(&a, NULL, add_one, &all);
    pthread_create(&b, NULL, add_one, &none);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[1] == 1 ? 0 : 1;
}
