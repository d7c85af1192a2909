// want: race-free unknown
// getsubopt leaves what is behind the first word alone.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static char text[] = "ro,rw"; static char *const names[] = {"ro", "rw", NULL}; static void setup(void) {}

static void *one(void *arg)
{
    (void)arg;
    char *p = text, *v; getsubopt(&p, names, &v);
    return NULL;
}

static void *two(void *arg)
{
    (void)arg;
    text[4] = 'x';
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
