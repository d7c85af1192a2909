"""Every synchronisation of the models, by a small program that ends differently if it fails.

Each runs under many seeded schedules; all the ways in which it may end must be seen, and no other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from raceproof.options import DataModel, MutexRules
from tests.machine.running import machine_of, outcomes

INSIDE = """
static atomic_int inside, worst;
static void visit(void) {
    int now = ++inside;
    if (now > worst) worst = now;
    inside--;
}
"""
"""`worst` is how many threads were inside at once."""


def entering(enter: str, leave: str, setting: str = "", start: str = "") -> str:
    """Two threads that enter and leave; the exit code says how many were inside at once."""
    return f"""{setting}{INSIDE}
static void *work(void *arg) {{ {enter}; visit(); {leave}; return 0; }}
int main(void) {{ {start}; CREATE(a, work); CREATE(b, work); JOIN(a); JOIN(b); return worst; }}
"""


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    expected: set[str]
    settings: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


MUTEX = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"
RWLOCK = "static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;"
KIND = """
static pthread_mutex_t m;
static void make(int kind) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, kind);
    pthread_mutex_init(&m, &a);
}
"""
LOCKS = [
    Case("no lock", entering("", ""), {"1", "2"}),
    Case("mutex", entering("pthread_mutex_lock(&m)", "pthread_mutex_unlock(&m)", MUTEX), {"1"}),
    Case(
        "mutex of the other data model",
        entering("pthread_mutex_lock(&m)", "pthread_mutex_unlock(&m)", MUTEX),
        {"1"},
        {"model": DataModel.ILP32},
    ),
    Case(
        "try-lock",
        entering("if (pthread_mutex_trylock(&m)) return 0", "pthread_mutex_unlock(&m)", MUTEX),
        {"1"},
    ),
    Case(
        "a try-lock fails with EBUSY while another holds the lock",
        MUTEX
        + """static int seen;
        static void *work(void *arg) { seen = pthread_mutex_trylock(&m); return 0; }
        int main(void) { pthread_mutex_lock(&m); CREATE(a, work); JOIN(a); return seen; }""",
        {"16"},
    ),
    Case(
        "timed lock may give up",
        MUTEX
        + """static int seen;
        static void *work(void *arg) { struct timespec t = {0, 0};
            seen = pthread_mutex_timedlock(&m, &t) != 0; return 0; }
        int main(void) { pthread_mutex_lock(&m); CREATE(a, work); JOIN(a); return seen; }""",
        {"1"},
    ),
    Case(
        "a normal mutex taken twice blocks",
        MUTEX + "int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }",
        {"deadlock"},
    ),
    Case(
        "a recursive mutex is free after as many unlocks",
        KIND
        + INSIDE
        + """static void *work(void *arg) {
            pthread_mutex_lock(&m); pthread_mutex_lock(&m);
            pthread_mutex_unlock(&m); visit(); pthread_mutex_unlock(&m); return 0; }
        int main(void) { make(PTHREAD_MUTEX_RECURSIVE);
            CREATE(a, work); CREATE(b, work); JOIN(a); JOIN(b); return worst; }""",
        {"1"},
    ),
    Case(
        "an error-checking mutex reports EDEADLK and EPERM",
        KIND
        + """int main(void) { make(PTHREAD_MUTEX_ERRORCHECK);
            pthread_mutex_lock(&m); int twice = pthread_mutex_lock(&m);
            pthread_mutex_unlock(&m); int free = pthread_mutex_unlock(&m);
            return twice + 100 * (free != 0); }""",
        {"135"},
    ),
    Case(
        "a static recursive mutex",
        """static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
        int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 7; }""",
        {"7"},
    ),
    Case(
        "POSIX: only the owner unlocks",
        MUTEX
        + """static void *work(void *arg) { pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_mutex_lock(&m); CREATE(a, work); JOIN(a);
            return pthread_mutex_trylock(&m); }""",
        {"16"},
    ),
    Case(
        "Linux: anyone unlocks",
        MUTEX
        + """static void *work(void *arg) { pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_mutex_lock(&m); CREATE(a, work); JOIN(a);
            return pthread_mutex_trylock(&m); }""",
        {"0"},
        {"mutex_rules": MutexRules.LINUX},
    ),
    Case(
        "two locks in different order",
        """static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
        static void *one(void *arg) { pthread_mutex_lock(&m); pthread_mutex_lock(&n);
            pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }
        static void *two(void *arg) { pthread_mutex_lock(&n); pthread_mutex_lock(&m);
            pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }
        int main(void) { CREATE(a, one); CREATE(b, two); JOIN(a); JOIN(b); return 0; }""",
        {"0", "deadlock"},
    ),
    Case(
        "spin lock",
        entering(
            "pthread_spin_lock(&s)",
            "pthread_spin_unlock(&s)",
            "static pthread_spinlock_t s;",
            "pthread_spin_init(&s, 0)",
        ),
        {"1"},
    ),
    Case(
        "readers at once",
        entering("pthread_rwlock_rdlock(&l)", "pthread_rwlock_unlock(&l)", RWLOCK),
        {"1", "2"},
    ),
    Case(
        "writers apart",
        entering("pthread_rwlock_wrlock(&l)", "pthread_rwlock_unlock(&l)", RWLOCK),
        {"1"},
    ),
    Case(
        "a reader and a writer apart",
        RWLOCK
        + INSIDE
        + """static void *reader(void *arg) {
            pthread_rwlock_rdlock(&l); visit(); pthread_rwlock_unlock(&l); return 0; }
        static void *writer(void *arg) {
            pthread_rwlock_wrlock(&l); visit(); pthread_rwlock_unlock(&l); return 0; }
        int main(void) { CREATE(a, reader); CREATE(b, writer); JOIN(a); JOIN(b); return worst; }""",
        {"1"},
    ),
    Case(
        "a write try-lock fails beside a reader, a read try-lock does not",
        RWLOCK
        + """int main(void) { pthread_rwlock_rdlock(&l); int w = pthread_rwlock_trywrlock(&l);
            return w * 2 + pthread_rwlock_tryrdlock(&l); }""",
        {"32"},
    ),
    Case(
        "C11 mutex",
        "#include <threads.h>\nstatic mtx_t m;"
        + INSIDE
        + """static int work(void *arg) { mtx_lock(&m); visit(); mtx_unlock(&m); return 4; }
        int main(void) { mtx_init(&m, mtx_plain); thrd_t a, b; int r;
            thrd_create(&a, work, 0); thrd_create(&b, work, 0);
            thrd_join(a, 0); thrd_join(b, &r); return worst + r; }""",
        {"5"},
    ),
]

CONDITION = MUTEX + "static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int ready, woken;"
WAITING = (
    CONDITION
    + """
static void *waiter(void *arg) { pthread_mutex_lock(&m);
    if (!ready) { pthread_cond_wait(&c, &m); woken = ready ? 1 : 2; }
    pthread_mutex_unlock(&m); return 0; }
int main(void) { CREATE(a, waiter); pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c);
    pthread_mutex_unlock(&m); JOIN(a); return woken; }
"""
)
SIGNALS = [
    Case("a signal wakes the waiter", WAITING, {"0", "1"}, {"wakes_spuriously": False}),
    Case("a waiter wakes up by itself", WAITING, {"0", "1", "2"}, {"wakes_spuriously": True}),
    Case(
        "a signal without waiters is lost",
        CONDITION
        + """static void *waiter(void *arg) { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m);
            pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_cond_signal(&c); CREATE(a, waiter); JOIN(a); return 0; }""",
        {"deadlock"},
        {"wakes_spuriously": False},
    ),
    Case(
        "a pipe beside other objects of the library",
        """#include <unistd.h>
        static void last(void) {}
        int main(void) { int ends[2]; char c = 7, d = 0; atexit(last);
            pipe(ends); write(ends[1], &c, 1); read(ends[0], &d, 1); return d; }""",
        {"7"},
    ),
    Case(
        "a signal wakes one, a broadcast all",
        CONDITION
        + """static void *waiter(void *arg) { pthread_mutex_lock(&m); ready++;
            pthread_cond_wait(&c, &m); woken++; pthread_mutex_unlock(&m); return 0; }
        int main(void) { CREATE(a, waiter); CREATE(b, waiter);
            for (int waiting = 0; waiting < 2;) {
                pthread_mutex_lock(&m); waiting = ready; pthread_mutex_unlock(&m); }
            pthread_mutex_lock(&m); pthread_cond_broadcast(&c); pthread_mutex_unlock(&m);
            JOIN(a); JOIN(b); return woken; }""",
        {"2"},
        {"wakes_spuriously": False},
    ),
    Case(
        "a timed wait gives up",
        CONDITION
        + """int main(void) { struct timespec t = {0, 0}; pthread_mutex_lock(&m);
            return pthread_cond_timedwait(&c, &m, &t); }""",
        {"110"},
        {"wakes_spuriously": False},
    ),
    Case(
        "nobody passes a barrier alone",
        """static pthread_barrier_t b; static atomic_int before, bad, last;
        static void *work(void *arg) { before++;
            if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) last++;
            if (before != 3) bad = 1; return 0; }
        int main(void) { pthread_barrier_init(&b, 0, 3); CREATE(x, work); CREATE(y, work);
            work(0); JOIN(x); JOIN(y); return bad * 10 + last; }""",
        {"1"},
    ),
    Case(
        "a barrier can be used again",
        """static pthread_barrier_t b; static atomic_int round, bad;
        static void *work(void *arg) { for (int i = 0; i < 3; i++) {
                pthread_barrier_wait(&b); if (round / 2 != i) bad = 1; round++;
                pthread_barrier_wait(&b); } return 0; }
        int main(void) { pthread_barrier_init(&b, 0, 2); CREATE(x, work); work(0); JOIN(x);
            return round + 100 * bad; }""",
        {"6"},
    ),
    Case(
        "semaphore",
        entering("sem_wait(&s)", "sem_post(&s)", "static sem_t s;", "sem_init(&s, 0, 1)"),
        {"1"},
    ),
    Case(
        "semaphore of two",
        entering("sem_wait(&s)", "sem_post(&s)", "static sem_t s;", "sem_init(&s, 0, 2)"),
        {"1", "2"},
    ),
    Case(
        "semaphore: value, and a wait that does not block",
        """static sem_t s;
        int main(void) { int v; sem_init(&s, 0, 1); int a = sem_trywait(&s), b = sem_trywait(&s);
            sem_post(&s); sem_post(&s); sem_getvalue(&s, &v);
            return v * 10 + (a == 0) + (b != 0); }""",
        {"22"},
    ),
    Case(
        "a semaphore of zero blocks",
        "static sem_t s; int main(void) { sem_init(&s, 0, 0); sem_wait(&s); return 0; }",
        {"deadlock"},
    ),
    Case(
        "once, and everyone waits for it",
        """static pthread_once_t o = PTHREAD_ONCE_INIT; static atomic_int runs, done, bad;
        static void routine(void) { runs++; done = 1; }
        static void *work(void *arg) { pthread_once(&o, routine); if (!done) bad = 1; return 0; }
        int main(void) { CREATE(a, work); CREATE(b, work); work(0); JOIN(a); JOIN(b);
            return runs + 10 * bad; }""",
        {"1"},
    ),
]

LIVES = [
    Case(
        "join hands over the result",
        """static void *work(void *arg) { return (char *)arg + 3; }
        int main(void) { pthread_t a; void *r; pthread_create(&a, 0, work, (void *)4);
            pthread_join(a, &r); return (int)(long)r; }""",
        {"7"},
    ),
    Case(
        "exit from a nested call",
        """static void deep(int n) { if (n) deep(n - 1); else pthread_exit((void *)9); }
        static void *work(void *arg) { deep(3); return 0; }
        int main(void) { void *r; CREATE(a, work); pthread_join(a, &r); return (int)(long)r; }""",
        {"9"},
    ),
    Case(
        "a detached thread is not waited for",
        """static atomic_int x; static void *work(void *arg) { x = 5; return 0; }
        int main(void) { CREATE(a, work); pthread_detach(a); return x; }""",
        {"0", "5"},
    ),
    Case(
        "main's pthread_exit lets the others go on",
        """static void *work(void *arg) { exit(6); }
        int main(void) { CREATE(a, work); pthread_exit(0); }""",
        {"6"},
    ),
    Case(
        "exit ends all threads",
        """static atomic_int x; static void *work(void *arg) { for (;;) x++; }
        int main(void) { CREATE(a, work); exit(3); }""",
        {"3"},
    ),
    Case(
        "cancelled at a cancellation point, with the result for it",
        """static void *work(void *arg) { for (;;) pthread_testcancel(); }
        int main(void) { void *r; CREATE(a, work); pthread_cancel(a); pthread_join(a, &r);
            return r == PTHREAD_CANCELED; }""",
        {"1"},
    ),
    Case(
        "cancelled while it waits, it has the lock again when the handler runs",
        CONDITION
        + """static void handler(void *arg) { woken = pthread_mutex_trylock(&m);
            pthread_mutex_unlock(&m); }
        static void *work(void *arg) { pthread_mutex_lock(&m); pthread_cleanup_push(handler, 0);
            for (;;) pthread_cond_wait(&c, &m); pthread_cleanup_pop(0); return 0; }
        int main(void) { CREATE(a, work); pthread_cancel(a); JOIN(a);
            return woken + pthread_mutex_trylock(&m); }""",
        {"16"},
        {"wakes_spuriously": False},
    ),
    Case(
        "cancellation can be put off",
        """static atomic_int x;
        static void *work(void *arg) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
            pthread_testcancel(); x = 1; pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0);
            pthread_testcancel(); x = 2; return 0; }
        int main(void) { CREATE(a, work); pthread_cancel(a); JOIN(a); return x; }""",
        {"1", "2"},
    ),
    Case(
        "cleanup handlers run from the last to the first",
        """static int order; static void note(void *arg) { order = order * 10 + (int)(long)arg; }
        static void *work(void *arg) { pthread_cleanup_push(note, (void *)1);
            pthread_cleanup_push(note, (void *)2); pthread_exit(0); pthread_cleanup_pop(0);
            pthread_cleanup_pop(0); return 0; }
        int main(void) { CREATE(a, work); JOIN(a); return order; }""",
        {"21"},
    ),
    Case(
        "a popped handler runs when asked to",
        """static int order; static void note(void *arg) { order = order * 10 + (int)(long)arg; }
        int main(void) { pthread_cleanup_push(note, (void *)1);
            pthread_cleanup_push(note, (void *)2);
            pthread_cleanup_pop(1); pthread_cleanup_pop(0); return order; }""",
        {"2"},
    ),
    Case(
        "keys: each thread its value, destroyed at its end",
        """static pthread_key_t k; static atomic_int gone;
        static void destroy(void *value) { gone += (int)(long)value; }
        static void *work(void *arg) { if (pthread_getspecific(k)) exit(99);
            pthread_setspecific(k, (void *)5); if (pthread_getspecific(k) != (void *)5) exit(98);
            return 0; }
        int main(void) { pthread_key_create(&k, destroy); pthread_setspecific(k, (void *)100);
            CREATE(a, work); CREATE(b, work); JOIN(a); JOIN(b); return gone; }""",
        {"10"},
    ),
    Case(
        "functions for the exit run before the end",
        """static void last(void) { _exit(4); } static void first(void) { }
        int main(void) { atexit(last); atexit(first); return 0; }""",
        {"4"},
    ),
    Case(
        "atomic section",
        """void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);"""
        + entering("__VERIFIER_atomic_begin()", "__VERIFIER_atomic_end()"),
        {"1"},
    ),
    Case(
        "atomic function",
        INSIDE
        + """void __VERIFIER_atomic_visit(void) { visit(); }
        static void *work(void *arg) { __VERIFIER_atomic_visit(); return 0; }
        int main(void) { CREATE(a, work); CREATE(b, work); JOIN(a); JOIN(b); return worst; }""",
        {"1"},
    ),
    Case(
        "atomic updates are not lost, plain ones may be",
        """static atomic_int x; static int y;
        static void *work(void *arg) { x++; y++; return 0; }
        int main(void) { CREATE(a, work); CREATE(b, work); JOIN(a); JOIN(b);
            return x * 10 + y; }""",
        {"21", "22"},
    ),
    Case(
        "a thread that waits for a flag lets others go on",
        """static atomic_int flag; static void *work(void *arg) { flag = 1; return 0; }
        int main(void) { CREATE(a, work); while (!flag) ; return 1; }""",
        {"1"},
    ),
]


@pytest.mark.parametrize("case", [*LOCKS, *SIGNALS, *LIVES], ids=str)
def test_ends_as_it_may(case: Case) -> None:
    settings = {"wakes_spuriously": False, **case.settings}
    assert outcomes(case.source, **settings) == case.expected


def test_a_string_is_appended_where_it_ends_and_nowhere_else() -> None:
    """What lies behind the appended text does not race with it; what it overwrites does."""
    source = """static char text[32] = "ab", seen; static int place;
    static void *append(void *arg) { strcat(text, "cd"); return 0; }
    int main(void) { CREATE(a, append); seen = text[PLACE]; JOIN(a); return 0; }"""
    found = {}
    for place in (1, 2, 4, 5, 20):
        machine = machine_of(source.replace("PLACE", str(place)))
        machine.reset()
        found[place] = machine.race_of(machine.threads[0]) is not None
    assert found == {1: False, 2: True, 4: True, 5: False, 20: False}
