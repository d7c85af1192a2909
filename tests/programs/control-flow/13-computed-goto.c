// verdict: race
// An interpreter with computed gotos; one of its instructions stores without the lock.
#include <pthread.h>

enum { HALT, LOCKED_STORE, PLAIN_STORE };

static int cell;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *interpret(void *arg)
{
    static void *const labels[] = {&&halt, &&locked_store, &&plain_store};
    const unsigned char *code = arg;
    goto *labels[*code++];
locked_store:
    pthread_mutex_lock(&lock);
    cell = 1; // RACE
    pthread_mutex_unlock(&lock);
    goto *labels[*code++];
plain_store:
    cell = 2; // RACE
    goto *labels[*code++];
halt:
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned char good[] = {LOCKED_STORE, HALT}, bad[] = {PLAIN_STORE, HALT};
    pthread_create(&a, NULL, interpret, good);
    pthread_create(&b, NULL, interpret, bad);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return cell;
}
