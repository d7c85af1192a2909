// verdict: race-free
// strcmp stops at the first difference and does not look at what is written behind it.
#include <pthread.h>
#include <string.h>

static char word[16] = "alpha beta";

static void *worker(void *arg)
{
    word[9] = 'x'; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int order = strcmp(word, "alter"); // NORACE
    pthread_join(thread, NULL);
    return order > 0;
}
