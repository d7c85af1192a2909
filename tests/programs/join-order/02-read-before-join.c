// verdict: race
// Main reads the result before it joins the writer.
#include <pthread.h>

static int result;

static void *compute(void *arg)
{
    result = 6; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, compute, NULL);
    int early = result; // RACE
    pthread_join(thread, NULL);
    int late = result; // NORACE
    return early == late ? 0 : 1;
}
