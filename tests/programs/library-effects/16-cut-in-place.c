// verdict: race
// strsep writes into the string that the pointer it is given leads to.
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <string.h>

static char words[8] = "one two";

static void *worker(void *arg)
{
    words[3] = '-'; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char *rest = words;
    pthread_create(&thread, NULL, worker, NULL);
    char *first = strsep(&rest, " "); // RACE
    pthread_join(thread, NULL);
    return first == NULL;
}
