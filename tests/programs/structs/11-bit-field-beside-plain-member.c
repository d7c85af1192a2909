// verdict: race-free
// A plain member next to bit-fields is a memory location of its own.
#include <pthread.h>

struct header {
    int sequence;
    unsigned kind : 4;
    unsigned priority : 4;
    int length;
};

static struct header header;

static void *classify(void *arg)
{
    header.kind = 3; // NORACE
    header.priority = 1; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, classify, NULL);
    header.sequence = 1; // NORACE
    header.length = 64; // NORACE
    pthread_join(thread, NULL);
    return header.kind + header.priority == 4 ? 0 : 1;
}
