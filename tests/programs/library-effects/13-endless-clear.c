// verdict: race
// unbounded
// One endless thread clears the buffer, the other copies out of it.
#include <pthread.h>
#include <string.h>

static char buffer[8];

static void *cleaner(void *arg)
{
    for (;;)
        memset(buffer, 0, sizeof buffer); // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char mine[4] = "";
    pthread_create(&thread, NULL, cleaner, NULL);
    while (mine[0] == 0)
        memcpy(mine, buffer + 4, 4); // RACE
    return 0;
}
