"""Racy programs that are tempting to call race-free."""

from pathlib import Path

import pytest

from raceproof.verdict import Outcome
from tests.engines.bounded.helpers import TWO_THREADS, ask, load

EXTERN = """
#include <string.h>
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int shared;
static void *second(void *arg) { shared = 2; return NULL; }
"""
RACY = {
    "a large block": """
static void *first(void *arg)
{
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n > 100 && n < 200);
    char *p = malloc(n);
    p[0] = 1;
    shared = p[0];
    return NULL;
}""",
    "a loop entered in its middle": """
static void *first(void *arg)
{
    int n = 0, odd = __VERIFIER_nondet_int();
    if (odd)
        goto middle;
top:
    n++;
middle:
    n += 2;
    if (n < 7)
        goto top;
    shared = n;
    return NULL;
}""",
    "a section on one of two ways": """
static void *first(void *arg)
{
    int careful = __VERIFIER_nondet_int();
    if (careful)
        __VERIFIER_atomic_begin();
    shared = 1;
    if (careful)
        __VERIFIER_atomic_end();
    return NULL;
}""",
    "odd elements": """
static int numbers[8] = {0, 1, 0, 1, 0, 1, 0, 1};
static void *first(void *arg)
{
    unsigned n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n < 4);
    numbers[0] = 0;
    if (numbers[2 * n + 1])
        shared = 1;
    return NULL;
}""",
    "a pointer into the middle": """
static char bytes[64];
static char *cursor = bytes;
static void *first(void *arg)
{
    unsigned n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n < 4);
    cursor = bytes + 1;
    cursor[4 * n] = 1;
    if (bytes[5] == 1)
        shared = 1;
    return NULL;
}""",
    "a callback": """
static int order(const void *a, const void *b) { shared = 1; return 0; }
static void *first(void *arg)
{
    int numbers[2] = {2, 1};
    qsort(numbers, 2, sizeof numbers[0], order);
    return NULL;
}""",
    "a clean-up handler": """
static void clean(void *arg) { shared = 1; }
static void *first(void *arg)
{
    pthread_cleanup_push(clean, NULL);
    pthread_cleanup_pop(1);
    return NULL;
}""",
    "a block that grows": """
static void *first(void *arg)
{
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n > 100 && n < 200);
    char *p = realloc(malloc(4), n);
    p[n - 1] = 1;
    shared = 1;
    return NULL;
}""",
    "any of two functions": """
static void harmless(void) {}
static void harmful(void) { shared = 1; }
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *first(void *arg)
{
    pthread_once(&once, __VERIFIER_nondet_int() ? harmless : harmful);
    return NULL;
}""",
    "bytes of a pointer": """
static int target;
static int *source = &target, *copy;
static void *first(void *arg)
{
    for (unsigned i = 0; i < sizeof source; i++)
        ((char *)&copy)[i] = ((char *)&source)[i];
    if (*copy == 0)
        shared = 1;
    return NULL;
}""",
    "an unknown pointer": """
extern int *somewhere(void);
static int one;
static void *first(void *arg)
{
    int *p = __VERIFIER_nondet_int() ? &one : somewhere();
    *p = 1;
    if (p != &one)
        shared = 1;
    return NULL;
}""",
    "the arguments of main": """
static int count;
static void *first(void *arg)
{
    if (count > 3)
        shared = 1;
    return NULL;
}
#define main other_main
""",
    "a try that fails while the lock is held in vain": """
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static void *third(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        if (ready)
            break;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *first(void *arg)
{
    pthread_t t;
    int failed = 0;
    pthread_create(&t, NULL, third, NULL);
    if (pthread_mutex_trylock(&lock) != 0)
        failed++;
    else
        pthread_mutex_unlock(&lock);
    if (pthread_mutex_trylock(&lock) != 0)
        failed++;
    else
        pthread_mutex_unlock(&lock);
    if (failed == 2)
        shared = 1;
    return NULL;
}""",
    "what the last look in vain has seen": """
#include <stdatomic.h>
static atomic_int turn;
static void *third(void *arg) { turn = 1; turn = 2; return NULL; }
static void *first(void *arg)
{
    pthread_t t;
    int seen, last = 0;
    pthread_create(&t, NULL, third, NULL);
    while ((seen = turn) != 2)
        last = seen;
    if (last == 1)
        shared = 1;
    return NULL;
}""",
    "what the last two looks in vain have seen": """
#include <stdatomic.h>
static atomic_int turn;
static void *third(void *arg) { turn = 1; turn = 3; turn = 2; return NULL; }
static void *first(void *arg)
{
    pthread_t t;
    int seen, last = 0, before = 0;
    pthread_create(&t, NULL, third, NULL);
    while ((seen = turn) != 2) {
        before = last;
        last = seen;
    }
    if (last == 3 && before == 1)
        shared = 1;
    return NULL;
}""",
    "what some look in vain has seen": """
#include <stdatomic.h>
static atomic_int turn;
static void *third(void *arg) { turn = 1; turn = 3; turn = 2; return NULL; }
static void note(int *last, int seen) { if (seen == 1) *last = seen; }
static void *first(void *arg)
{
    pthread_t t;
    int seen, last = 0, again = 0;
    pthread_create(&t, NULL, third, NULL);
    while ((seen = turn) != 2) {
        note(&last, seen);
        again = seen;
    }
    if (last == 1 && again == 3)
        shared = 1;
    return NULL;
}""",
    "what it read before it let go of the lock": """
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int started, a = 1, b;
static void *third(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        if (started)
            break;
        pthread_mutex_unlock(&lock);
    }
    b = 1;
    a = 2;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    b = 2;
    a = 3;
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *first(void *arg)
{
    pthread_t t;
    int seen;
    pthread_create(&t, NULL, third, NULL);
    pthread_mutex_lock(&lock);
    started = 1;
    do {
        seen = a;
        pthread_cond_wait(&changed, &lock);
    } while (seen == b);
    pthread_mutex_unlock(&lock);
    if (seen == 3)
        shared = 1;
    return NULL;
}""",
    "how often it has waited": """
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;
static void *third(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        ready = i == 2;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
static void *first(void *arg)
{
    pthread_t t;
    int waits = 0;
    pthread_create(&t, NULL, third, NULL);
    pthread_mutex_lock(&lock);
    while (!ready) {
        pthread_cond_wait(&changed, &lock);
        waits++;
    }
    pthread_mutex_unlock(&lock);
    if (waits == 3)
        shared = 1;
    return NULL;
}""",
    "a byte of a flag": """
static union { int whole; char bytes[4]; } flag;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *third(void *arg)
{
    pthread_mutex_lock(&lock);
    flag.bytes[1] = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *first(void *arg)
{
    pthread_t t;
    int seen;
    pthread_create(&t, NULL, third, NULL);
    pthread_mutex_lock(&lock);
    flag.whole = 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    seen = flag.whole;
    pthread_mutex_unlock(&lock);
    if (seen == 257)
        shared = 1;
    return NULL;
}""",
    "an access that a section comes to": """
static int place, numbers[2];
static void *third(void *arg)
{
    __VERIFIER_atomic_begin();
    place = 1;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    int *target = place ? &shared : &numbers[0];
    *target = 1;
    __VERIFIER_atomic_end();
    return NULL;
}
static void *first(void *arg)
{
    pthread_t t;
    pthread_create(&t, NULL, third, NULL);
    return NULL;
}""",
}
MAIN_WITH_ARGUMENTS = """
#undef main
int main(int argc, char **argv)
{
    count = argc;
    return other_main();
}
"""


@pytest.mark.parametrize("name", sorted(RACY))
def test_is_not_fooled_by(name: str, tmp_path: Path) -> None:
    text = EXTERN + RACY[name] + TWO_THREADS
    if name == "the arguments of main":
        text += MAIN_WITH_ARGUMENTS
    answer = ask(load(tmp_path, text))
    assert answer.outcome is not Outcome.RACE_FREE
    assert "internal error" not in answer.detail


FOUND = (
    "a clean-up handler",
    "a loop entered in its middle",
    "a try that fails while the lock is held in vain",
    "a byte of a flag",
    "an access that a section comes to",
    "how often it has waited",
    "odd elements",
    "what it read before it let go of the lock",
    "what some look in vain has seen",
    "what the last look in vain has seen",
    "what the last two looks in vain have seen",
)


@pytest.mark.parametrize("name", FOUND)
def test_finds(name: str, tmp_path: Path) -> None:
    program = load(tmp_path, EXTERN + RACY[name] + TWO_THREADS)
    assert ask(program, unwind=5, rounds=4).outcome is Outcome.RACE


DISGUISED = """
struct queue { long head; long elements[4]; long mask; };
static struct queue q;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int item;
static void *first(void *arg)
{
    pthread_mutex_lock(&lock);
    long i = __VERIFIER_nondet_int() & 3;
    q.elements[i] = (long)&item;
    long h = q.head;
    pthread_mutex_unlock(&lock);
    q.elements[h & 1] = 0;
    return NULL;
}
static void *second(void *arg) { q.elements[0] = 1; return NULL; }
"""


def test_numbers_that_may_be_pointers_hide_no_array(tmp_path: Path) -> None:
    assert ask(load(tmp_path, DISGUISED + TWO_THREADS)).outcome is Outcome.RACE
