// epoll_wait hands out what epoll_ctl was given. Which descriptor is ready the outside decides.
// when: epoll_ctl

#define ADD 1
#define DELETE 2
#define MODIFY 3
#define WORDS (8 / sizeof(void *))

struct epoll_event {
    unsigned events;
    void *data[WORDS];
} __attribute__((packed));

struct watched {
    int queue, descriptor;
    unsigned events;
    void *data[WORDS];
    struct watched *next;
};

static struct watched *raceproof_epoll;

static inline __attribute__((always_inline)) void take(
    struct watched *watched, const struct epoll_event *event)
{
    GUARDED_WRITE(watched->events, event->events);
    for (int i = 0; i < WORDS; i++)
        GUARDED_WRITE(watched->data[i], event->data[i]);
}

LIBRARY int epoll_ctl(int queue, int operation, int descriptor, struct epoll_event *event)
{
    if (raceproof_input())
        return -1;
    struct watched *w = GUARDED_READ(raceproof_epoll);
    while (w != NULL
        && !(GUARDED_READ(w->queue) == queue && GUARDED_READ(w->descriptor) == descriptor))
        w = GUARDED_READ(w->next);
    if (operation == DELETE) {
        if (w != NULL)
            GUARDED_WRITE(w->descriptor, -1);
        return 0;
    }
    if (w != NULL) {
        take(w, event);
        return 0;
    }
    w = malloc(sizeof *w);
    GUARDED_WRITE(w->queue, queue);
    GUARDED_WRITE(w->descriptor, descriptor);
    take(w, event);
    GUARDED_WRITE(w->next, GUARDED_READ(raceproof_epoll));
    GUARDED_WRITE(raceproof_epoll, w);
    return 0;
}

static inline __attribute__((always_inline)) int wait_for(
    int queue, struct epoll_event *events, int most)
{
    int count = 0;
    if (raceproof_input())
        return -1;
    for (struct watched *w = GUARDED_READ(raceproof_epoll); w != NULL && count < most;
         w = GUARDED_READ(w->next)) {
        if (GUARDED_READ(w->queue) != queue || GUARDED_READ(w->descriptor) < 0)
            continue;
        if (raceproof_input())
            continue;
        events[count].events = raceproof_input();
        for (int i = 0; i < WORDS; i++)
            events[count].data[i] = GUARDED_READ(w->data[i]);
        count++;
    }
    return count;
}

LIBRARY int epoll_wait(int queue, struct epoll_event *events, int most, int timeout)
{
    return wait_for(queue, events, most);
}

LIBRARY int epoll_pwait(
    int queue, struct epoll_event *events, int most, int timeout, const void *mask)
{
    return wait_for(queue, events, most);
}
