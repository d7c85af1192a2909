// verdict: race-free
// Main builds a block, hands it to a thread and never looks back until the join.
#include <pthread.h>
#include <stdlib.h>

struct order {
    int quantity;
    int price;
};

static void *bill(void *arg)
{
    struct order *order = arg;
    order->price *= order->quantity; // NORACE
    return order;
}

int main(void)
{
    pthread_t thread;
    void *done;
    struct order *order = malloc(sizeof *order);
    order->quantity = 3; // NORACE
    order->price = 7; // NORACE
    pthread_create(&thread, NULL, bill, order);
    pthread_join(thread, &done);
    int price = order->price; // NORACE
    free(done);
    return price;
}
