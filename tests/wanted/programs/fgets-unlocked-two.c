// want: race unknown
// Two threads read one stream without its lock.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static FILE *f; static void setup(void) { f = fopen("/etc/passwd", "r"); if (!f) exit(1); }

static void *one(void *arg)
{
    (void)arg;
    char s[8]; if (!fgets_unlocked(s, 8, f)) exit(1);
    return NULL;
}

static void *two(void *arg)
{
    (void)arg;
    char s[8]; if (!fgets_unlocked(s, 8, f)) exit(1);
    return NULL;
}

int main(void)
{
    pthread_t s, t;
    setup();
    pthread_create(&s, NULL, one, NULL);
    pthread_create(&t, NULL, two, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
