// verdict: race-free
// Inside one member of a union the halves are apart.
#include <pthread.h>

union packet {
    int words[2];
    struct {
        int header;
        int payload;
    } parts;
};

static union packet packet;

static void *set_header(void *arg)
{
    packet.parts.header = 1; // NORACE
    return NULL;
}

static void *set_second_word(void *arg)
{
    packet.words[1] = 2; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, set_header, NULL);
    pthread_create(&b, NULL, set_second_word, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return packet.words[0] + packet.parts.payload == 3 ? 0 : 1;
}
