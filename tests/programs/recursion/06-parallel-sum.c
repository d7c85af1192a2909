// verdict: race-free
// Divide and conquer: each level sends one half to a new thread and joins it.
#include <pthread.h>

struct part {
    int *from;
    int count;
    int sum;
};

static int numbers[4] = {1, 2, 3, 4};

static void *sum(void *arg)
{
    struct part *part = arg;
    if (part->count == 1) {
        part->sum = part->from[0]; // NORACE
        return NULL;
    }
    int half = part->count / 2;
    struct part left = {part->from, half, 0};
    struct part right = {part->from + half, part->count - half, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, sum, &left);
    sum(&right);
    pthread_join(thread, NULL);
    part->sum = left.sum + right.sum; // NORACE
    return NULL;
}

int main(void)
{
    struct part all = {numbers, 4, 0};
    sum(&all);
    return all.sum == 10 ? 0 : 1;
}
