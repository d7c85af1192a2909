// verdict: race-free
// Thread functions come from a table; each has its own variable.
#include <pthread.h>

static int red, green;

static void *paint_red(void *arg)
{
    red++; // NORACE
    return NULL;
}

static void *paint_green(void *arg)
{
    green++; // NORACE
    return NULL;
}

static void *(*const painters[])(void *) = {paint_red, paint_green};

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, painters[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return red + green;
}
