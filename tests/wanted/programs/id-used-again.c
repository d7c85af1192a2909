// want: race unknown
// The id of a thread that was joined may be that of the next one.
#include <pthread.h>
static int x;
static pthread_t owner;
static void *claim(void *arg) { owner = pthread_self(); return NULL; }
static void *check(void *arg) { if (owner == pthread_self()) x = 2; return NULL; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, claim, NULL);
    pthread_join(t, NULL);
    pthread_create(&t, NULL, check, NULL);
    x = 1;
    pthread_join(t, NULL);
    return 0;
}
