// verdict: race-free
// A C11 condition variable hands the datum over.
#include <stdbool.h>
#include <threads.h>

static int datum;
static bool ready;
static mtx_t lock;
static cnd_t changed;

static int producer(void *arg)
{
    datum = 3; // NORACE
    mtx_lock(&lock);
    ready = true; // NORACE
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t thread;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    thrd_create(&thread, producer, NULL);
    mtx_lock(&lock);
    while (!ready) // NORACE
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    int seen = datum; // NORACE
    thrd_join(thread, NULL);
    return seen == 3 ? 0 : 1;
}
