// verdict: race-free
// A zero-width bit-field starts a new storage unit.
#include <pthread.h>

struct flags {
    unsigned visible : 1;
    unsigned : 0;
    unsigned dirty : 1;
};

static struct flags flags;

static void *painter(void *arg)
{
    flags.visible = 1; // NORACE
    return NULL;
}

static void *editor(void *arg)
{
    flags.dirty = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, painter, NULL);
    pthread_create(&b, NULL, editor, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return flags.visible + flags.dirty == 2 ? 0 : 1;
}
