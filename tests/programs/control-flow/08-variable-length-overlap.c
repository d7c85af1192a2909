// verdict: race
// As 07, but for an odd length the parts are rounded the wrong way and overlap.
#include <pthread.h>

struct part {
    int *from, *to;
};

static void *fill(void *arg)
{
    struct part *part = arg;
    for (int *p = part->from; p < part->to; p++)
        *p = 1; // RACE
    return NULL;
}

static int run(int length)
{
    int data[length];
    pthread_t a, b;
    struct part low = {data, data + (length + 1) / 2};
    struct part high = {data + length / 2, data + length};
    pthread_create(&a, NULL, fill, &low);
    pthread_create(&b, NULL, fill, &high);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[0] + data[length - 1]; // NORACE
}

int main(void)
{
    return run(3);
}
