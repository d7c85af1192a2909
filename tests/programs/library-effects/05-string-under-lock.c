// verdict: race-free
// Every string function that touches the shared name runs under the lock.
#include <pthread.h>
#include <string.h>

static char name[16] = "nobody";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *rename_it(void *arg)
{
    pthread_mutex_lock(&lock);
    strcpy(name, (const char *)arg); // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char mine[16];
    pthread_create(&thread, NULL, rename_it, "somebody");
    pthread_mutex_lock(&lock);
    int unchanged = strcmp(name, "nobody") == 0; // NORACE
    strcpy(mine, name); // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return unchanged ? 0 : (int)strlen(mine);
}
