// want: race unknown
// A library function in a table, called through it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static char b[4]; static void *(*const fill)(void *, int, size_t) = memset; static void setup(void) {}

static void *one(void *arg)
{
    (void)arg;
    fill(b, 0, 4);
    return NULL;
}

static void *two(void *arg)
{
    (void)arg;
    b[3] = 1;
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
