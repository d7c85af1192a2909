// verdict: race-free
// unbounded
// Endless formatting and copying of log lines, one lock around the shared line.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char last_line[32];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *logger(void *arg)
{
    for (int i = 0;; i = (i + 1) % 100) {
        char line[32];
        snprintf(line, sizeof line, "event %d", i);
        pthread_mutex_lock(&lock);
        memcpy(last_line, line, sizeof last_line); // NORACE
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, logger, NULL);
    pthread_create(&b, NULL, logger, NULL);
    for (;;) {
        pthread_mutex_lock(&lock);
        puts(last_line); // NORACE
        pthread_mutex_unlock(&lock);
    }
}
