// verdict: race
// Two threads format into one static buffer.
#include <pthread.h>
#include <stdio.h>

static char line[32];

static const char *format(int number)
{
    snprintf(line, sizeof line, "number %d", number); // RACE
    return line;
}

static void *worker(void *arg)
{
    const char *text = format(*(int *)arg);
    return text == line ? NULL : arg;
}

int main(void)
{
    pthread_t a, b;
    int one = 1, two = 2;
    pthread_create(&a, NULL, worker, &one);
    pthread_create(&b, NULL, worker, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
