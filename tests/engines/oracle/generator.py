"""Small random concurrent C programs: finitely many states, every value initialised.

Two or three threads over a handful of shared objects, synchronised by whatever pthreads offers. The
only inputs are booleans, so that every schedule with every input can be tried.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

_HEAD = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int g0, g1, ready;
int a[3];
struct { int x; int y; } pair;
int *heap;
atomic_int c0, c1;
pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t *which = &m0;
pthread_once_t once = PTHREAD_ONCE_INIT;
int *alias = &g0;
pthread_rwlock_t r0 = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
pthread_barrier_t bar;
sem_t s0;
pthread_spinlock_t spin;
_Thread_local int own;

static void set(int *target, int value) { *target = value; }
static int get(int *source) { return *source; }
static void take(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }
static void give(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }
static void begin(void) { g1 = 3; }
static void *leaf(void *argument)
{
    pthread_mutex_lock(&m0);
    g0 = 4;
    pthread_mutex_unlock(&m0);
    return argument;
}
"""

_PLACES = ("g0", "g0", "g0", "g1", "a[0]", "a[n]", "pair.x", "(*heap)", "(*alias)")


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def _access(draw: st.DrawFn) -> list[str]:
    place = draw(st.sampled_from(_PLACES))
    form = draw(
        st.sampled_from(("{} = 1;", "{} = 2;", "x = {};", "{}++;", "set(&{}, 1);", "x = get(&{});"))
    )
    return [form.format(place)]


_ATOMIC = st.sampled_from(
    (
        "atomic_store(&c0, 1);",
        "atomic_store(&c1, 1);",
        "x = atomic_load(&c0);",
        "x = atomic_load(&c1);",
        "x = atomic_fetch_add(&c0, 1);",
        "x = atomic_exchange(&c1, 1);",
        "x = __VERIFIER_nondet_bool();",
        "own = 1;",
    )
).map(lambda line: [line])

_SYNC = st.sampled_from(
    (
        ["sem_post(&s0);"],
        ["sem_wait(&s0);"],
        ["pthread_barrier_wait(&bar);"],
        ["while (!atomic_load(&c0))", "    ;"],
        ["while (!atomic_load(&c1))", "    ;"],
        [
            "pthread_mutex_lock(&m0);",
            "while (!ready)",
            "    pthread_cond_wait(&cv, &m0);",
            "pthread_mutex_unlock(&m0);",
        ],
        [
            "pthread_mutex_lock(&m0);",
            "ready = 1;",
            "pthread_cond_broadcast(&cv);",
            "pthread_mutex_unlock(&m0);",
        ],
        [
            "pthread_mutex_lock(&m0);",
            "ready = 1;",
            "pthread_mutex_unlock(&m0);",
            "pthread_cond_signal(&cv);",
        ],
        ["pthread_mutex_lock(&m1);", "x = ready;", "pthread_mutex_unlock(&m1);"],
        ["pthread_once(&once, begin);"],
        ["which = &m1;"],
        ["{", "    pthread_t own;", "    pthread_create(&own, 0, leaf, 0);", "}"],
        [
            "{",
            "    pthread_t own;",
            "    pthread_create(&own, 0, leaf, 0);",
            "    pthread_join(own, 0);",
            "}",
        ],
    )
)

_GUARDS = (
    ("pthread_mutex_lock(&m0);", "pthread_mutex_unlock(&m0);"),
    ("pthread_mutex_lock(&m0);", "pthread_mutex_unlock(&m0);"),
    ("pthread_mutex_lock(&m1);", "pthread_mutex_unlock(&m1);"),
    ("pthread_rwlock_wrlock(&r0);", "pthread_rwlock_unlock(&r0);"),
    ("pthread_rwlock_rdlock(&r0);", "pthread_rwlock_unlock(&r0);"),
    ("pthread_spin_lock(&spin);", "pthread_spin_unlock(&spin);"),
    ("take(&m0);", "give(&m0);"),
    ("take(&m1);", "give(&m1);"),
    ("pthread_mutex_lock(which);", "pthread_mutex_unlock(which);"),
    ("pthread_mutex_lock(&again);", "pthread_mutex_unlock(&again);"),
    (
        "pthread_mutex_lock(&again); pthread_mutex_lock(&again); pthread_mutex_unlock(&again);",
        "pthread_mutex_unlock(&again);",
    ),
    ("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"),
)
_CONDITIONS = ("x", "!x", "x == 1", "n", "atomic_load(&c0) == 1", "__VERIFIER_nondet_bool()")
_TRIES = (
    ("pthread_mutex_trylock(&m0) == 0", "pthread_mutex_unlock(&m0);"),
    ("!pthread_mutex_trylock(&m1)", "pthread_mutex_unlock(&m1);"),
    ("pthread_rwlock_trywrlock(&r0) == 0", "pthread_rwlock_unlock(&r0);"),
    ("sem_trywait(&s0) == 0", "sem_post(&s0);"),
)


@st.composite
def _guarded(draw: st.DrawFn) -> list[str]:
    begin, end = draw(st.sampled_from(_GUARDS))
    plain = st.lists(st.one_of(_access(), _ATOMIC), min_size=1, max_size=2)
    body = [line for part in draw(plain) for line in part]
    return [begin, *body, end]


@st.composite
def _tried(draw: st.DrawFn) -> list[str]:
    test, end = draw(st.sampled_from(_TRIES))
    inside, outside = draw(_access()), draw(st.one_of(st.just([]), _access()))
    lines = [f"if ({test}) {{", *_indented([*inside, end])]
    return [*lines, "} else {", *_indented(outside), "}"] if outside else [*lines, "}"]


@st.composite
def _conditional(draw: st.DrawFn) -> list[str]:
    test = draw(st.sampled_from(_CONDITIONS))
    body = draw(st.one_of(_access(), _guarded(), _ATOMIC))
    return [f"if ({test}) {{", *_indented(body), "}"]


@st.composite
def _looped(draw: st.DrawFn) -> list[str]:
    body = draw(st.one_of(_access(), _guarded()))
    return ["for (int i = 0; i < 2; i++) {", *_indented(body), "}"]


_STATEMENT = st.one_of(
    _access(), _guarded(), _guarded(), _SYNC, _ATOMIC, _tried(), _conditional(), _looped()
)


def _body(most: int) -> st.SearchStrategy[list[str]]:
    parts = st.lists(_STATEMENT, min_size=2, max_size=most)
    return parts.map(lambda found: [line for part in found for line in part])


def _brief(most: int) -> st.SearchStrategy[list[str]]:
    simple = st.one_of(_access(), _access(), _guarded(), _SYNC, _ATOMIC, _conditional())
    parts = st.lists(simple, max_size=most)
    return parts.map(lambda found: [line for part in found for line in part])


@dataclass(frozen=True, slots=True)
class Generated:
    """A program; shown as its text."""

    text: str

    def __repr__(self) -> str:
        return "\n" + self.text


def _function(name: str, body: list[str]) -> str:
    head = [f"static void *{name}(void *argument)", "{", "    int x = 0;"]
    head.append("    int n = (int)(long)argument;")
    return "\n".join([*head, *_indented(body), "    return (void *)(long)(x + n);", "}"])


@st.composite
def concurrent_programs(draw: st.DrawFn) -> Generated:
    """A whole program."""
    names = draw(
        st.sampled_from((("one", "two"), ("one", "one"), ("one", "two"), ("one", "one", "two")))
    )
    parties = draw(st.sampled_from((2, 2, 3)))
    tokens = draw(st.sampled_from((0, 0, 1)))
    few = 4 if len(names) == 2 else 3
    functions = [_function(name, draw(_body(few))) for name in sorted(set(names))]
    main = [
        "int x = 0, n = 0;",
        "pthread_t t0, t1, t2;",
        "heap = malloc(sizeof *heap);",
        "*heap = 0;",
        f"sem_init(&s0, 0, {tokens});",
        f"pthread_barrier_init(&bar, 0, {parties});",
        "pthread_spin_init(&spin, 0);",
    ]
    numbers = draw(st.permutations(range(len(names))))
    for thread, name in enumerate(names):
        main.append(f"pthread_create(&t{thread}, 0, {name}, (void *)(long){numbers[thread] % 2});")
        main += draw(_brief(1))
    for thread in range(len(names)):
        if draw(st.booleans()):
            main.append(f"pthread_join(t{thread}, 0);")
            main += draw(_brief(1))
    if draw(st.sampled_from((False, False, True))):
        main.append("pthread_exit(0);")
    main.append("return x + n;")
    text = "\n".join([_HEAD, *functions, "", "int main(void)", "{", *_indented(main), "}", ""])
    return Generated(text)
