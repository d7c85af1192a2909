// verdict: race-free
// The shared array has a length known only at run time; the threads' parts are apart.
#include <pthread.h>

struct part {
    int *from, *to;
};

static void *fill(void *arg)
{
    struct part *part = arg;
    for (int *p = part->from; p < part->to; p++)
        *p = 1; // NORACE
    return NULL;
}

static int run(int length)
{
    int data[length];
    pthread_t a, b;
    struct part low = {data, data + length / 2};
    struct part high = {data + length / 2, data + length};
    pthread_create(&a, NULL, fill, &low);
    pthread_create(&b, NULL, fill, &high);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[0] + data[length - 1]; // NORACE
}

int main(void)
{
    return run(4) + run(3) == 4 ? 0 : 1;
}
