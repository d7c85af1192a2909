// verdict: race
// tfind returns what tsearch was given.
#include <pthread.h>
#include <search.h>
#include <stdlib.h>

int number = 5;

int compare(const void *a, const void *b)
{
    return (a > b) - (a < b);
}

void *work(void *arg)
{
    number = 6; // RACE
    return arg;
}

int main(void)
{
    pthread_t t;
    void *root = NULL;
    tsearch(&number, &root, compare);
    int **found = tfind(&number, &root, compare);
    pthread_create(&t, NULL, work, NULL);
    int seen = **found; // RACE
    pthread_join(t, NULL);
    return seen == 7;
}
