// want: race unknown
// drand48 is not thread-safe.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static void setup(void) {}

static void *one(void *arg)
{
    (void)arg;
    drand48();
    return NULL;
}

static void *two(void *arg)
{
    (void)arg;
    drand48();
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
