// verdict: race-free
// memcmp, strlen and memcpy from a shared buffer that nobody writes any more.
#include <pthread.h>
#include <string.h>

static char pattern[8];

static void *reader(void *arg)
{
    char mine[8];
    int *result = arg;
    memcpy(mine, pattern, sizeof mine); // NORACE
    *result = memcmp(mine, pattern, 4) + (int)strlen(pattern); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int results[2];
    memset(pattern, 'x', 7); // NORACE
    pthread_create(&a, NULL, reader, &results[0]);
    pthread_create(&b, NULL, reader, &results[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return results[0] + results[1] == 14 ? 0 : 1;
}
