// verdict: race-free
// Each thread has its own element of an array of structs.
#include <pthread.h>

struct worker {
    pthread_t thread;
    int steps;
    int result;
};

static struct worker workers[2];

static void *run(void *arg)
{
    struct worker *self = arg;
    for (int i = 0; i < self->steps; i++) // NORACE
        self->result += i; // NORACE
    return NULL;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        workers[i].steps = i + 2; // NORACE
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].result; // NORACE
    }
    return sum == 4 ? 0 : 1;
}
