// verdict: race
// A later call of strtok_r goes on where the one before has stopped.
#include <pthread.h>
#include <string.h>

int shared;

void *work(void *arg)
{
    shared = 1; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    char text[] = "x,y";
    char *rest;
    pthread_create(&t, NULL, work, NULL);
    char *first = strtok_r(text, ",", &rest);
    char *second = strtok_r(NULL, ",", &rest);
    if (first[0] == 'x' && second != NULL && second[0] == 'y')
        shared = 2; // RACE
    pthread_join(t, NULL);
    return 0;
}
