// verdict: race
// The threads differ only in the callback they get; both callbacks write the same variable.
#include <pthread.h>

typedef void (*callback)(int);

struct request {
    callback done;
};

static int last;

static void remember(int value)
{
    last = value; // RACE
}

static void forget(int value)
{
    last = 0; // RACE
}

static void *run(void *arg)
{
    struct request *request = arg;
    request->done(1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct request first = {remember}, second = {forget};
    pthread_create(&a, NULL, run, &first);
    pthread_create(&b, NULL, run, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return last;
}
