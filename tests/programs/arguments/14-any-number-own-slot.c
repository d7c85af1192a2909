// verdict: race-free
// unbounded
// Nobody knows how many workers there are; each has a slot, read when that worker has ended.
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

struct slot {
    pthread_t worker;
    int input;
    int output;
};

static void *work(void *arg)
{
    struct slot *mine = arg;
    mine->output = mine->input * 2; // NORACE
    return NULL;
}

int main(void)
{
    int sum = 0;
    int count = __VERIFIER_nondet_int();
    if (count < 1 || count > 1000)
        return 0;
    struct slot *slots = malloc(count * sizeof *slots);
    for (int i = 0; i < count; i++) {
        slots[i].input = i; // NORACE
        pthread_create(&slots[i].worker, NULL, work, &slots[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(slots[i].worker, NULL);
        sum += slots[i].output; // NORACE
    }
    free(slots);
    return sum;
}
