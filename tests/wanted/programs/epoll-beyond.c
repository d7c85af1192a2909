// want: race-free unknown
// epoll_wait writes no more events than asked for.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>

static int fd; static struct epoll_event events[2]; static void setup(void) { fd = epoll_create1(0); }

static void *one(void *arg)
{
    (void)arg;
    epoll_wait(fd, events, 1, 0);
    return NULL;
}

static void *two(void *arg)
{
    (void)arg;
    events[1].events = 0;
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
