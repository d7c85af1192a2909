// verdict: race
// Each thread locks, but not the same mutex.
#include <pthread.h>

static int balance = 100;
static pthread_mutex_t deposit_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t withdraw_lock = PTHREAD_MUTEX_INITIALIZER;

static void *deposit(void *arg)
{
    pthread_mutex_lock(&deposit_lock);
    balance += 10; // RACE
    pthread_mutex_unlock(&deposit_lock);
    return NULL;
}

static void *withdraw(void *arg)
{
    pthread_mutex_lock(&withdraw_lock);
    balance -= 10; // RACE
    pthread_mutex_unlock(&withdraw_lock);
    return NULL;
}

int main(void)
{
    pthread_t giver, taker;
    pthread_create(&giver, NULL, deposit, NULL);
    pthread_create(&taker, NULL, withdraw, NULL);
    pthread_join(giver, NULL);
    pthread_join(taker, NULL);
    return balance == 100 ? 0 : 1; // NORACE
}
