// verdict: race
// As 07, but the ranges of the two indices share one value.
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

static int data[4];

static void assume_abort_if_not(int condition)
{
    if (!condition)
        abort();
}

static void *writer(void *arg)
{
    data[*(int *)arg] = 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int i = __VERIFIER_nondet_int();
    int j = __VERIFIER_nondet_int();
    assume_abort_if_not(0 <= i && i <= 2);
    assume_abort_if_not(2 <= j && j < 4);
    pthread_create(&a, NULL, writer, &i);
    pthread_create(&b, NULL, writer, &j);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[i] + data[j];
}
