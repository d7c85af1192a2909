/* Two tellers move money between two accounts.
 *
 * `accounts[i].balance` is always changed under the bank's lock. `transfers`, the number of
 * transfers for the evening report, is not: each teller holds only a lock of their own.
 */
#include <pthread.h>
#include <stdio.h>

#define ROUNDS 1000

struct account {
    long balance;
};

struct bank {
    pthread_mutex_t lock;
    struct account accounts[2];
    long transfers;
};

struct teller {
    pthread_mutex_t lock;
    int from;
    int to;
};

static struct bank bank = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .accounts = {{.balance = 100}, {.balance = 100}},
};

static struct teller tellers[2] = {
    {.lock = PTHREAD_MUTEX_INITIALIZER, .from = 0, .to = 1},
    {.lock = PTHREAD_MUTEX_INITIALIZER, .from = 1, .to = 0},
};

static void transfer(int from, int to, long amount)
{
    pthread_mutex_lock(&bank.lock);
    if (bank.accounts[from].balance >= amount) {
        bank.accounts[from].balance -= amount;
        bank.accounts[to].balance += amount;
    }
    pthread_mutex_unlock(&bank.lock);
}

static void count_transfer(struct teller *self)
{
    pthread_mutex_lock(&self->lock);
    bank.transfers++;
    pthread_mutex_unlock(&self->lock);
}

static void *work(void *argument)
{
    struct teller *self = argument;
    for (int round = 0; round < ROUNDS; round++) {
        transfer(self->from, self->to, 5);
        count_transfer(self);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &tellers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);

    printf("balances %ld and %ld after %ld transfers\n", bank.accounts[0].balance,
           bank.accounts[1].balance, bank.transfers);
    return 0;
}
