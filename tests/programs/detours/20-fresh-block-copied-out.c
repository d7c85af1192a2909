// verdict: race
// The address of a new block gets out in a struct that is copied as a whole.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct box {
    int *content;
    int weight;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct box shelf;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    struct box found = shelf; // NORACE
    pthread_mutex_unlock(&lock);
    if (found.content)
        (*found.content)++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct box mine = {calloc(1, sizeof(int)), 1};
    pthread_create(&thread, NULL, worker, NULL);
    *mine.content = 1; // NORACE
    pthread_mutex_lock(&lock);
    memcpy(&shelf, &mine, sizeof mine); // NORACE
    pthread_mutex_unlock(&lock);
    *mine.content = 2; // RACE
    pthread_join(thread, NULL);
    return 0;
}
