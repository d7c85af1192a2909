// verdict: race
// unbounded
// Each of many workers has a slot, but the slot ahead is read when a worker has ended.
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

struct slot {
    pthread_t worker;
    int output;
};

static void *work(void *arg)
{
    struct slot *mine = arg;
    mine->output = 2; // RACE
    return NULL;
}

int main(void)
{
    int sum = 0;
    int count = __VERIFIER_nondet_int();
    if (count < 2 || count > 1000)
        return 0;
    struct slot *slots = malloc((count + 1) * sizeof *slots);
    for (int i = 0; i < count; i++)
        pthread_create(&slots[i].worker, NULL, work, &slots[i]);
    slots[count].output = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(slots[i].worker, NULL);
        sum += slots[i + 1].output; // RACE
    }
    return sum;
}
