// verdict: race
// A missing break lets the locked case run on into the unlocked one.
#include <pthread.h>

static int balance, audits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *clerk(void *arg)
{
    switch (*(int *)arg) {
    case 1:
        pthread_mutex_lock(&lock);
        balance++; // NORACE
        pthread_mutex_unlock(&lock);
        /* fall through */
    case 2:
        audits++; // RACE
        break;
    default:
        break;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int deposit = 1, audit = 2;
    pthread_create(&a, NULL, clerk, &deposit);
    pthread_create(&b, NULL, clerk, &audit);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return balance + audits;
}
