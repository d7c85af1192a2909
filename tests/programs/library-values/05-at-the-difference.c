// verdict: race
// The character that differs is looked at.
#include <pthread.h>
#include <string.h>

static char word[16] = "alpha beta";

static void *worker(void *arg)
{
    word[2] = 'x'; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int order = strcmp(word, "alter"); // RACE
    pthread_join(thread, NULL);
    return order > 0;
}
