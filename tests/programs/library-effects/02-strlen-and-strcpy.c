// verdict: race
// strlen reads the text while strcpy writes it.
#include <pthread.h>
#include <string.h>

static char text[16] = "start";

static void *writer(void *arg)
{
    strcpy(text, "changed"); // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    size_t length = strlen(text); // RACE
    pthread_join(thread, NULL);
    return (int)length;
}
