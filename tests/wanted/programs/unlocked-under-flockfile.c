// want: race-free unknown
// flockfile makes the unlocked functions safe.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static FILE *f; static void setup(void) { f = tmpfile(); if (!f) exit(1); }

static void *one(void *arg)
{
    (void)arg;
    flockfile(f); putc_unlocked('a', f); funlockfile(f);
    return NULL;
}

static void *two(void *arg)
{
    (void)arg;
    flockfile(f); putc_unlocked('b', f); funlockfile(f);
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
