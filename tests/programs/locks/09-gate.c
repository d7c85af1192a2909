// verdict: race-free
// Main fills the table while it holds the gate; the reader passes the gate before it looks.
#include <pthread.h>

static int table[3];
static int sum;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < 3; i++)
        sum += table[i]; // NORACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&gate);
    pthread_create(&thread, NULL, reader, NULL);
    for (int i = 0; i < 3; i++)
        table[i] = i + 1; // NORACE
    pthread_mutex_unlock(&gate);
    pthread_join(thread, NULL);
    return sum;
}
