// verdict: race
// The text is freed while the other thread measures it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static size_t length;

static void *measure(void *arg)
{
    length = strlen(arg); // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char *text = malloc(8);
    strcpy(text, "seven"); // NORACE
    pthread_create(&thread, NULL, measure, text);
    free(text); // RACE
    pthread_join(thread, NULL);
    return (int)length;
}
