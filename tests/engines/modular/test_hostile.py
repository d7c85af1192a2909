"""Programs made to be misread: in each pair one is racy, the other the same done right.

No backend may call a racy one race-free or a race-free one racy; `value` proves the right ones
that are marked so.
"""

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.pipeline.proofs import ask
from raceproof.verdict import Outcome
from tests.lowering import lower

HEAD = """
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
int x;
extern int any(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, locks[64];
pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
pthread_mutex_t nesting = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
int table[64], half[512];
pthread_mutex_t halves[512];
"""
MAIN = """
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, first, 0);
    pthread_create(&t, 0, second, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
"""


def two(first: str, second: str, extra: str = "") -> str:
    return (
        f"{HEAD}{extra}\nvoid *first(void *p) {{ {first} return 0; }}\n"
        f"void *second(void *p) {{ {second} return 0; }}\n{MAIN}"
    )


def locked(lock: str, what: str = "x++;") -> str:
    return f"pthread_mutex_lock(&{lock}); {what} pthread_mutex_unlock(&{lock});"


RACY = {
    "relock refused by an error-checking mutex": two(
        "pthread_mutex_lock(&checking);" + locked("checking", "") + "x++;", locked("checking")
    ),
    "the way of the refusal": two(
        "pthread_mutex_lock(&checking);"
        "if (pthread_mutex_lock(&checking) == EDEADLK) {"
        "    pthread_mutex_unlock(&checking); x++; }",
        locked("checking"),
    ),
    "one unlock too many": two(
        "pthread_mutex_lock(&nesting); pthread_mutex_lock(&nesting);"
        "pthread_mutex_unlock(&nesting); pthread_mutex_unlock(&nesting); x++;",
        locked("nesting"),
    ),
    "read twice, given back twice": two(
        "pthread_rwlock_rdlock(&rw); pthread_rwlock_rdlock(&rw);"
        "pthread_rwlock_unlock(&rw); pthread_rwlock_unlock(&rw); x++;",
        "pthread_rwlock_wrlock(&rw); x++; pthread_rwlock_unlock(&rw);",
    ),
    "not upgraded": two(
        "pthread_rwlock_rdlock(&rw); if (pthread_rwlock_trywrlock(&rw)) x++;",
        "pthread_rwlock_rdlock(&rw); x++;",
    ),
    "another failure than a timeout": two(
        "struct timespec now = {0}; if (pthread_mutex_timedlock(&m, &now) != ETIMEDOUT) x++;",
        locked("m"),
    ),
    "control of once set back": two(
        "pthread_once(&control, init); return (void *)(long)x;",
        "pthread_once(&control, init); pthread_once_t fresh = PTHREAD_ONCE_INIT;"
        "control = fresh; pthread_once(&control, init);",
        "pthread_once_t control = PTHREAD_ONCE_INIT;\nstatic void init(void) { x++; }",
    ),
    "control of once of each": two(
        "pthread_once_t own = PTHREAD_ONCE_INIT; pthread_once(&own, init);",
        "pthread_once_t own = PTHREAD_ONCE_INIT; pthread_once(&own, init);",
        "static void init(void) { x++; }",
    ),
    "index with and without sign": two(
        "char c = (char)any(); pthread_mutex_lock(&halves[256] + (unsigned char)c);"
        "(&half[256])[c]++; pthread_mutex_unlock(&halves[256] + (unsigned char)c);",
        "char c = (char)any(); pthread_mutex_lock(&halves[256] + c);"
        "(&half[256])[c]++; pthread_mutex_unlock(&halves[256] + c);",
    ),
    "element beside the locked one": two(
        "unsigned i = any() & 31; pthread_mutex_lock(&locks[i]); table[i + 1]++;",
        "unsigned i = any() & 31; pthread_mutex_lock(&locks[i]); table[i]++;",
    ),
    "elements of another size": two(
        "unsigned i = any() & 31; pthread_mutex_lock(&locks[i]); table[i]++;",
        "unsigned i = any() & 31; short *s = (short *)table;pthread_mutex_lock(&locks[i]); s[i]++;",
    ),
    "assembler code that increments": two('__asm__("incl %0" : "+m"(x));', "x = 1;"),
    "assembler code that writes through a pointer": two(
        '__asm__ volatile("incl (%0)" : : "r"(&x) : "memory");', "x = 1;"
    ),
    "atomic assembler code and plain code": two('__asm__("lock; incl %0" : "+m"(x));', "x = 1;"),
    "assembler code that reads": two(
        'int r; __asm__("movl %1, %0" : "=r"(r) : "m"(x));', '__asm__("movl $1, %0" : "=m"(x));'
    ),
    "functions that timers start": two(
        "struct sigevent e = {0}; timer_t t; e.sigev_notify = SIGEV_THREAD;"
        "e.sigev_notify_function = tick; timer_create(CLOCK_REALTIME, &e, &t);",
        "x++;",
        "static void tick(union sigval v) { x++; }",
    ),
    "callback of a stranger": two(
        "on_event(tick);", "x++;", "extern void on_event(void (*)(void));\nvoid tick(void) { x++; }"
    ),
    "busy waiting on a plain flag": two(
        "x = 1; flag = 1;", "while (!flag) {} x = 2;", "volatile int flag;"
    ),
    "flag raised too early": two(
        "flag = 1; x = 1;", "while (!flag) {} x = 2;", "_Atomic int flag;"
    ),
    "value changed while waiting": two(
        "pthread_mutex_lock(&m); mode = 0; pthread_cond_wait(&c, &m); int now = mode;"
        "pthread_mutex_unlock(&m); if (now == 1) x++;",
        "pthread_mutex_lock(&m); mode = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); x++;",
        "pthread_cond_t c = PTHREAD_COND_INITIALIZER; int mode;",
    ),
    "variable arguments of a late round": f"""{HEAD}
        #include <stdarg.h>
        int y;
        void set(int n, ...) {{ va_list l; va_start(l, n); *va_arg(l, int *) = n; va_end(l); }}
        void *first(void *p) {{
            int *q = &y;
            for (int i = 0; i < 9; i++) {{ set(1, q); if (i == 5) q = &x; }}
            return 0;
        }}
        int main(void) {{
            pthread_t t;
            pthread_create(&t, 0, first, 0);
            x = 3;
            pthread_join(t, 0);
            return 0;
        }}""",
    "creation in a late round": f"""{HEAD}
        int mode;
        void *first(void *p) {{ if (mode == 7) x++; return 0; }}
        void *second(void *p) {{ x++; return 0; }}
        void both(void) {{
            pthread_t s, t;
            pthread_create(&s, 0, first, 0);
            pthread_create(&t, 0, second, 0);
            pthread_join(s, 0);
            pthread_join(t, 0);
        }}
        int main(void) {{
            for (int i = 0; i < 99; i++) {{ both(); if (i == 50) mode = 7; }}
            return 0;
        }}""",
    "on again at setjmp": f"""{HEAD}
        #include <setjmp.h>
        jmp_buf back;
        int stage;
        void *first(void *p) {{ x++; return 0; }}
        int main(void) {{
            pthread_t t;
            pthread_create(&t, 0, first, 0);
            if (setjmp(back) == 0) {{ stage = 5; longjmp(back, 1); }}
            else if (stage == 5) x++;
            return 0;
        }}""",
    "joined if it had ended": f"""{HEAD}
        void *first(void *p) {{ x++; return 0; }}
        int main(void) {{
            pthread_t t;
            pthread_create(&t, 0, first, 0);
            pthread_tryjoin_np(t, 0);
            x++;
            return 0;
        }}""",
    "joined by a brother, sometimes": f"""{HEAD}
        pthread_t s;
        void *first(void *p) {{ x = 1; return 0; }}
        void *second(void *p) {{ if (any()) pthread_join(s, 0); return 0; }}
        int main(void) {{
            pthread_t t;
            pthread_create(&s, 0, first, 0);
            pthread_create(&t, 0, second, 0);
            pthread_join(t, 0);
            x = 2;
            return 0;
        }}""",
}

RIGHT = {
    "error-checking, not relocked": two(locked("checking"), locked("checking")),
    "still held once": two(
        "pthread_mutex_lock(&nesting); pthread_mutex_lock(&nesting);"
        "pthread_mutex_unlock(&nesting); x++; pthread_mutex_unlock(&nesting);",
        locked("nesting"),
    ),
    "still read": two(
        "pthread_rwlock_rdlock(&rw); pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw);"
        "int seen = x; pthread_rwlock_unlock(&rw); return (void *)(long)seen;",
        "pthread_rwlock_wrlock(&rw); x++; pthread_rwlock_unlock(&rw);",
    ),
    "in time": two(
        "struct timespec now = {0};"
        "if (pthread_mutex_timedlock(&m, &now) == 0) { x++; pthread_mutex_unlock(&m); }",
        locked("m"),
    ),
    "one control of once": two(
        "pthread_once(&control, init); return (void *)(long)x;",
        "pthread_once(&control, init); return (void *)(long)x;",
        "pthread_once_t control = PTHREAD_ONCE_INIT;\nstatic void init(void) { x++; }",
    ),
    "the same unsigned index": two(
        "unsigned char c = any(); pthread_mutex_lock(&halves[c]); half[c]++;"
        "pthread_mutex_unlock(&halves[c]);",
        "unsigned char c = any(); pthread_mutex_lock(&halves[c]); half[c]++;"
        "pthread_mutex_unlock(&halves[c]);",
    ),
    "atomic assembler code": two(
        '__asm__("lock; incl %0" : "+m"(x));', '__asm__("lock; decl %0" : "+m"(x));'
    ),
    "assembler code under a lock": two(locked("m", '__asm__("incl %0" : "+m"(x));'), locked("m")),
    "empty assembler code": two(
        locked("m", 'x++; __asm__ volatile("" : "+m"(x) : : "memory");'),
        '__asm__ volatile("" : "+m"(x));' + locked("m"),
    ),
    "gate at the creation": f"""{HEAD}
        void *first(void *p) {{ {locked("m", "")} x = 1; return 0; }}
        int main(void) {{
            pthread_t t;
            pthread_mutex_lock(&m);
            pthread_create(&t, 0, first, 0);
            x = 2;
            pthread_mutex_unlock(&m);
            pthread_join(t, 0);
            return 0;
        }}""",
    "a lock that is always the same one": f"""{HEAD}
        int sign;
        void *first(void *p) {{ {locked("locks[sign * sign]")} return 0; }}
        void *second(void *p) {{ {locked("locks[1]")} return 0; }}
        {MAIN.replace("pthread_t s, t;", "pthread_t s, t; sign = (any() & 1) * 2 - 1;")}""",
    "a role for each of many": f"""{HEAD}
        int seats[99], roles[99];
        void *first(void *role) {{ if (*(int *)role == 42) x++; return 0; }}
        int main(void) {{
            pthread_t t;
            for (int i = 0; i < 99; i++) roles[i] = i;
            for (int i = 0; i < 99; i++) pthread_create(&t, 0, first, &roles[i]);
            return 0;
        }}""",
    "flag raised in time": two("x = 1; flag = 1;", "while (!flag) {} x = 2;", "_Atomic int flag;"),
    "joined if it has ended": f"""{HEAD}
        void *first(void *p) {{ x++; return 0; }}
        int main(void) {{
            pthread_t t;
            pthread_create(&t, 0, first, 0);
            if (pthread_tryjoin_np(t, 0) == 0) x++;
            return 0;
        }}""",
    "joined by a brother": f"""{HEAD}
        pthread_t s;
        void *first(void *p) {{ x = 1; return 0; }}
        void *second(void *p) {{ pthread_join(s, 0); x = 2; return 0; }}
        int main(void) {{
            pthread_t t;
            pthread_create(&s, 0, first, 0);
            pthread_create(&t, 0, second, 0);
            pthread_join(t, 0);
            x = 3;
            return 0;
        }}""",
}
UNPROVED = {
    "a lock that is always the same one",
    "a role for each of many",
    "flag raised in time",
    "joined if it has ended",
    "joined by a brother",
}
"""Right, but for reasons that the engine does not see; others of the pipeline may."""


@pytest.mark.parametrize("backend", [BackendChoice.VALUE, BackendChoice.ALIAS])
@pytest.mark.parametrize("name", RACY)
def test_a_race_is_not_proved_away(name: str, backend: BackendChoice) -> None:
    answer = ask(ENGINE.name, lower(RACY[name]), Question(Options(backend=backend)))
    assert answer.outcome is not Outcome.RACE_FREE


@pytest.mark.parametrize("backend", [BackendChoice.VALUE, BackendChoice.ALIAS])
@pytest.mark.parametrize("name", RIGHT)
def test_no_race_is_made_up(name: str, backend: BackendChoice) -> None:
    answer = ask(ENGINE.name, lower(RIGHT[name]), Question(Options(backend=backend)))
    assert answer.outcome is not Outcome.RACE
    if backend is BackendChoice.VALUE and name not in UNPROVED:
        assert answer.outcome is Outcome.RACE_FREE
