// want: race-free unknown
// The first thread is still there: no other has its id.
#include <pthread.h>
static int x;
static pthread_t boss;
static void *work(void *arg) { if (pthread_self() == boss) x = 2; return NULL; }
int main(void)
{
    pthread_t t;
    boss = pthread_self();
    pthread_create(&t, NULL, work, NULL);
    x = 1;
    pthread_join(t, NULL);
    return 0;
}
