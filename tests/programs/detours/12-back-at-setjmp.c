// verdict: race
// A jump back comes with the lock given up and with another value in memory.
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *worker(void *arg)
{
    jmp_buf start;
    pthread_mutex_lock(&lock);
    if (setjmp(start) == 0) {
        pthread_mutex_unlock(&lock);
        longjmp(start, 1);
    }
    shared++; // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    shared++; // RACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
