// verdict: race
// scanf writes the number where it was told to.
#include <pthread.h>
#include <stdio.h>

static int limit;

static void *worker(void *arg)
{
    limit++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int found = scanf("%d", &limit); // RACE
    pthread_join(thread, NULL);
    return found == 1 ? 0 : 1;
}
