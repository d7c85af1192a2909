// verdict: race
// Each thread writes its own element but reads its left neighbour's.
#include <pthread.h>
#include <stdint.h>

static int cells[3] = {1, 1, 1};

static void *smooth(void *arg)
{
    intptr_t i = (intptr_t)arg;
    int left = cells[i - 1]; // RACE
    cells[i] = left * 2; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, smooth, (void *)(intptr_t)1);
    pthread_create(&b, NULL, smooth, (void *)(intptr_t)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return cells[2];
}
