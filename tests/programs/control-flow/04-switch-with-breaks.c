// verdict: race-free
// As 03 with the break: each case has its own variable.
#include <pthread.h>

static int balance, audits, others;

static void *clerk(void *arg)
{
    switch (*(int *)arg) {
    case 1:
        balance++; // NORACE
        break;
    case 2:
        audits++; // NORACE
        break;
    default:
        others++; // NORACE
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int roles[3] = {1, 2, 30};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, clerk, &roles[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return balance + audits + others == 3 ? 0 : 1;
}
