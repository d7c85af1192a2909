// verdict: race
// Neighbouring bit-fields share a storage unit: writing one rewrites the other.
#include <pthread.h>

struct flags {
    unsigned visible : 1;
    unsigned dirty : 1;
    unsigned kind : 6;
};

static struct flags flags;

static void *painter(void *arg)
{
    flags.visible = 1; // RACE
    return NULL;
}

static void *editor(void *arg)
{
    flags.dirty = 1; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, painter, NULL);
    pthread_create(&b, NULL, editor, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return flags.kind;
}
