// verdict: race
// A static variable inside a function is one object for all threads.
#include <pthread.h>

static int next_id(void)
{
    static int last;
    return ++last; // RACE
}

static void *worker(void *arg)
{
    *(int *)arg = next_id(); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int ids[2];
    pthread_create(&a, NULL, worker, &ids[0]);
    pthread_create(&b, NULL, worker, &ids[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return ids[0] == ids[1];
}
