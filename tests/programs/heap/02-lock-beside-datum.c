// verdict: race-free
// A heap object carries its own mutex.
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static void *deposit(void *arg)
{
    struct account *account = arg;
    pthread_mutex_lock(&account->lock);
    account->balance += 10; // NORACE
    pthread_mutex_unlock(&account->lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct account *account = malloc(sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    account->balance = 0; // NORACE
    pthread_create(&a, NULL, deposit, account);
    pthread_create(&b, NULL, deposit, account);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return account->balance == 20 ? 0 : 1; // NORACE
}
