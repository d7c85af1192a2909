// verdict: race
// Main waits for the wrong thread before it reads.
#include <pthread.h>

static int left, right;

static void *fill_left(void *arg)
{
    left = 1; // RACE
    return NULL;
}

static void *fill_right(void *arg)
{
    right = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int seen;
    pthread_create(&a, NULL, fill_left, NULL);
    pthread_create(&b, NULL, fill_right, NULL);
    pthread_join(b, NULL);
    seen = left; // RACE
    seen += right; // NORACE
    pthread_join(a, NULL);
    return seen;
}
