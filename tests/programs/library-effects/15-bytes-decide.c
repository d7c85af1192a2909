// verdict: race
// What comes from outside into a local variable replaces its old value.
#include <pthread.h>
#include <unistd.h>

static int counter;

static void *worker(void *arg)
{
    counter++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char answer = 'n';
    pthread_create(&thread, NULL, worker, NULL);
    if (read(0, &answer, 1) == 1 && answer == 'y')
        counter = 0; // RACE
    pthread_join(thread, NULL);
    return 0;
}
