// verdict: race-free
// Whoever comes first initialises the table through pthread_once; everyone may read it then.
#include <pthread.h>

static int table[2];
static int seen[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
    table[0] = 10; // NORACE
    table[1] = 20; // NORACE
}

static void *worker(void *arg)
{
    int me = *(int *)arg;
    pthread_once(&once, fill);
    seen[me] = table[0] + table[1]; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int zero = 0, one = 1;
    pthread_create(&a, NULL, worker, &zero);
    pthread_create(&b, NULL, worker, &one);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen[0] + seen[1] == 60 ? 0 : 1;
}
