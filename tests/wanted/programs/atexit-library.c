// want: race unknown
// A library function may be registered for the exit; the threads go on until then.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#include <time.h>
static int x; static void setup(void) { atexit(tzset); }

static void *one(void *arg)
{
    (void)arg;
    x = 1;
    return NULL;
}

static void *two(void *arg)
{
    (void)arg;
    x = 2;
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
