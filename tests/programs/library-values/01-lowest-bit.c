// verdict: race-free
// The lowest bit of a mask is a thread's own index: ffs has one result.
#include <pthread.h>
#include <strings.h>

static int cells[4];
static int masks[2] = {1, 12};

static void *worker(void *arg)
{
    int index = ffs(*(int *)arg) - 1;
    cells[index]++; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, worker, &masks[0]);
    pthread_create(&second, NULL, worker, &masks[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return cells[0] + cells[2];
}
