// verdict: race
// putenv keeps its argument, getenv hands it out.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

char setting[] = "LEVEL=1";

void *work(void *arg)
{
    setting[6] = '2'; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    putenv(setting);
    char *value = getenv("LEVEL");
    pthread_create(&t, NULL, work, NULL);
    int level = value[0]; // RACE
    pthread_join(t, NULL);
    return level == '3';
}
