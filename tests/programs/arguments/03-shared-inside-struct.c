// verdict: race
// The argument structs differ, a pointer inside them is the same.
#include <pthread.h>

struct task {
    int id;
    int *result;
};

static void *run(void *arg)
{
    struct task *task = arg;
    task->id += 10; // NORACE
    *task->result += task->id; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int result = 0;
    struct task first = {1, &result};
    struct task second = {2, &result};
    pthread_create(&a, NULL, run, &first);
    pthread_create(&b, NULL, run, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return result;
}
