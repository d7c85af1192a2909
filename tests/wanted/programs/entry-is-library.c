// want: race unknown
// The entry of a thread is a library function.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static char *b; static void setup(void) { b = malloc(4); pthread_t t; pthread_create(&t, NULL, (void *(*)(void *))free, b); }

static void *one(void *arg)
{
    (void)arg;
    b[0] = 1;
    return NULL;
}

static void *two(void *arg)
{
    (void)arg;
    
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
