// verdict: race
// A file may not open.
#include <pthread.h>
#include <stdio.h>

static int failures;

static void *worker(void *arg)
{
    failures++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    FILE *file = fopen("list.txt", "r");
    if (file == NULL)
        failures++; // RACE
    pthread_join(thread, NULL);
    return 0;
}
