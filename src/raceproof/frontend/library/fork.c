// pthread_atfork: the handlers run around a fork, in the thread that forks.
// when: pthread_atfork __register_atfork

typedef void (*handler)(void);

struct handlers {
    handler prepare, parent, child;
    struct handlers *before, *next;
};

static struct handlers *raceproof_first_handlers, *raceproof_last_handlers;

pid_t _Fork(void);

LIBRARY int pthread_atfork(handler prepare, handler parent, handler child)
{
    struct handlers *new = malloc(sizeof *new), *last = GUARDED_READ(raceproof_last_handlers);
    GUARDED_WRITE(new->prepare, prepare);
    GUARDED_WRITE(new->parent, parent);
    GUARDED_WRITE(new->child, child);
    GUARDED_WRITE(new->before, last);
    GUARDED_WRITE(new->next, (struct handlers *)NULL);
    if (last != NULL)
        GUARDED_WRITE(last->next, new);
    else
        GUARDED_WRITE(raceproof_first_handlers, new);
    GUARDED_WRITE(raceproof_last_handlers, new);
    return 0;
}

LIBRARY int __register_atfork(handler prepare, handler parent, handler child, void *module)
{
    return pthread_atfork(prepare, parent, child);
}

static inline __attribute__((always_inline)) void call(handler function)
{
    if (function != NULL)
        function();
}

LIBRARY pid_t fork(void)
{
    struct handlers *h = GUARDED_READ(raceproof_last_handlers);
    while (h != NULL) {
        call(GUARDED_READ(h->prepare));
        h = GUARDED_READ(h->before);
    }
    pid_t pid = _Fork();
    h = GUARDED_READ(raceproof_first_handlers);
    while (h != NULL) {
        call(pid == 0 ? GUARDED_READ(h->child) : GUARDED_READ(h->parent));
        h = GUARDED_READ(h->next);
    }
    return pid;
}
