// Signals that the program sends to itself: raise runs the handler before it returns. Whether one
// comes from outside, and when, is told by the model of raceproof_handler.
// when: sigaction __sigaction raise
// define: MASKS if sigprocmask pthread_sigmask sighold sigblock sigsetmask sigset sigsuspend

#define SIGNALS 65
#define SIGINFO 4 // SA_SIGINFO
#define RESET 0x80000000u // SA_RESETHAND

typedef void (*plain_handler)(int);
typedef void (*info_handler)(int, void *, void *);

struct sigaction {
    void *handler;
    unsigned long mask[1024 / (8 * sizeof(unsigned long))];
    int flags;
    void *restorer;
};

static void *raceproof_handlers[SIGNALS];
static int raceproof_handler_flags[SIGNALS];

void raceproof_handler(int number, void *function);
void raceproof_killed(void) __attribute__((noreturn));

static inline __attribute__((always_inline)) void *install(int number, void *function, int flags)
{
    void *before = GUARDED_READ(raceproof_handlers[number]);
    GUARDED_WRITE(raceproof_handlers[number], function);
    GUARDED_WRITE(raceproof_handler_flags[number], flags);
    if (function != NULL && function != (void *)1)
        raceproof_handler(number, function);
    return before;
}

LIBRARY int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    if (number <= 0 || number >= SIGNALS || number == 9 || number == 19)
        return -1;
    void *handler = NULL;
    int flags = 0;
    if (action != NULL) {
        handler = action->handler;
        flags = action->flags;
        raceproof_may_read(action->mask);
    }
    if (before != NULL) {
        before->handler = GUARDED_READ(raceproof_handlers[number]);
        before->flags = GUARDED_READ(raceproof_handler_flags[number]);
        for (int i = 0; i < sizeof before->mask / sizeof before->mask[0]; i++)
            before->mask[i] = 0;
        if (raceproof_unspecified())
            raceproof_may_write(before->mask);
    }
    if (action != NULL)
        install(number, handler, flags);
    return 0;
}

LIBRARY int __sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    return sigaction(number, action, before);
}

static inline __attribute__((always_inline)) void *signal_(int number, void *function)
{
    if (number <= 0 || number >= SIGNALS || number == 9 || number == 19)
        return (void *)-1;
    return install(number, function, 0);
}

LIBRARY void *signal(int number, void *function)
{
    return signal_(number, function);
}

LIBRARY void *bsd_signal(int number, void *function)
{
    return signal_(number, function);
}

LIBRARY void *ssignal(int number, void *function)
{
    return signal_(number, function);
}

LIBRARY void *__sysv_signal(int number, void *function)
{
    return signal_(number, function);
}

LIBRARY int raise(int number)
{
    if (number <= 0 || number >= SIGNALS)
        return -1;
#ifdef MASKS
    if (raceproof_unspecified())
        return 0; // blocked: the handler runs later
#endif
    void *function = GUARDED_READ(raceproof_handlers[number]);
    if (function == (void *)1)
        return 0;
    if (function == NULL) {
        // SIGCHLD, SIGCONT, SIGURG, SIGWINCH: by default nothing happens
        if (number == 17 || number == 18 || number == 23 || number == 28)
            return 0;
        raceproof_killed();
    }
    int flags = GUARDED_READ(raceproof_handler_flags[number]);
    if (flags & RESET)
        GUARDED_WRITE(raceproof_handlers[number], NULL);
    if (flags & SIGINFO) {
        long information[16];
        raceproof_may_write(information);
        ((info_handler)function)(number, information, information);
    } else {
        ((plain_handler)function)(number);
    }
    return 0;
}
