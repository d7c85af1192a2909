// verdict: race
// Two accounts, each with a lock; the transfer locks only the source.
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
    struct account *partner;
};

static void *transfer(void *arg)
{
    struct account *source = arg;
    pthread_mutex_lock(&source->lock);
    source->balance -= 1; // RACE
    source->partner->balance += 1; // RACE
    pthread_mutex_unlock(&source->lock);
    return NULL;
}

static struct account *open_account(void)
{
    struct account *account = malloc(sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    account->balance = 10; // NORACE
    return account;
}

int main(void)
{
    pthread_t a, b;
    struct account *one = open_account(), *two = open_account();
    one->partner = two; // NORACE
    two->partner = one; // NORACE
    pthread_create(&a, NULL, transfer, one);
    pthread_create(&b, NULL, transfer, two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return one->balance + two->balance == 20 ? 0 : 1;
}
