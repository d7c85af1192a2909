// verdict: race
// Main gives away the address of its own copy of the thread-local.
#include <pthread.h>

static __thread int mine;

static void *worker(void *arg)
{
    int *theirs = arg;
    mine = 5; // NORACE
    *theirs = 6; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &mine);
    mine = 7; // RACE
    pthread_join(thread, NULL);
    return mine; // NORACE
}
