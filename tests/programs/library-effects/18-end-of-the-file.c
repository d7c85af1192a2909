// verdict: race
// Threads are created at the end of a file: `fgets` returns its buffer, or null there.
#include <pthread.h>
#include <stdio.h>

static int count;

static void *work(void *unused) {
    (void)unused;
    count++; // RACE
    return NULL;
}

int main(void) {
    char line[8];
    pthread_t one, two;
    if (fgets(line, sizeof line, stdin) != NULL)
        return 0;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
