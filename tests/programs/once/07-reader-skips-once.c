// verdict: race
// One reader does not go through the once control before it reads.
#include <pthread.h>

static int table;
static int seen[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table = 10; // RACE
}

static void *polite(void *arg)
{
    pthread_once(&once, fill);
    seen[0] = table; // NORACE
    return NULL;
}

static void *hasty(void *arg)
{
    seen[1] = table; // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, polite, NULL);
    pthread_create(&b, NULL, hasty, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen[0] + seen[1];
}
