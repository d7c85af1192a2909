// verdict: race-free
// A locked function calls another that locks the same recursive mutex; the rest stays covered.
#define _XOPEN_SOURCE 700
#include <pthread.h>

static int balance, entries;
static pthread_mutex_t lock;

static void note(void)
{
    pthread_mutex_lock(&lock);
    entries++; // NORACE
    pthread_mutex_unlock(&lock);
}

static void *deposit(void *arg)
{
    pthread_mutex_lock(&lock);
    note();
    balance += 5; // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_t a, b;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attr);
    pthread_create(&a, NULL, deposit, NULL);
    pthread_create(&b, NULL, deposit, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return balance + entries;
}
