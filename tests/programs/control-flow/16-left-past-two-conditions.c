// verdict: race
// A loop with two conditions and a break: leaving it by either condition starts the thread.
#include <pthread.h>

static int shared;

static void *work(void *arg)
{
    shared = 1; // RACE
    return arg;
}

static int search(int first, int second)
{
    int found = 0;
    while (first > 0 && second > 0) {
        if (first == 7) {
            found = 1;
            break;
        }
        first--;
    }
    return found;
}

int main(void)
{
    pthread_t thread;
    if (!search(3, 2)) {
        pthread_create(&thread, NULL, work, NULL);
        shared = 2; // RACE
        pthread_join(thread, NULL);
    }
    return 0;
}
