"""Small functions have constraints of their own for each call: makers of objects, lock wrappers."""

import pytest

from raceproof.analysis.walk import walker
from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.verdict import Answer, Outcome
from tests.lowering import lower

FRAME = """
#include <pthread.h>
#include <stdlib.h>
typedef struct { pthread_mutex_t m; int *owned; } lock_t;
static lock_t *new_lock(void) {
    lock_t *l = malloc(sizeof *l);
    if (!l) abort();
    pthread_mutex_init(&l->m, 0);
    l->owned = 0;
    return l;
}
static void lock(lock_t *l) { pthread_mutex_lock(&l->m); }
static void unlock(lock_t *l) { pthread_mutex_unlock(&l->m); }
static void add(lock_t *l, int *n) { lock(l); ++*n; unlock(l); }
lock_t *a, *b;
int x, y;
%s
"""
MAIN = """
int main(void) {
    pthread_t t;
    a = new_lock();
    b = new_lock();
    pthread_create(&t, 0, work, 0);
    body();
    return 0;
}
"""


def answer(text: str) -> Answer:
    question = Question(Options(backend=BackendChoice.ALIAS))
    return ENGINE.run(lower(FRAME % text), question)


SAFE = {
    "each its own lock": """
        void *work(void *p) { add(a, &x); add(b, &y); return 0; }
        void body(void) { add(b, &y); add(a, &x); }""",
    "locks handed down": """
        static void both(lock_t *l, int *n) { lock(l); *n = 1; unlock(l); }
        void *work(void *p) { both(a, &x); return 0; }
        void body(void) { both(a, &x); both(b, &y); }""",
}
RACY = {
    "another lock": """
        void *work(void *p) { add(a, &x); return 0; }
        void body(void) { add(b, &x); }""",
    "another lock in a wrapper of the wrapper": """
        static void one(lock_t *l) { add(l, &x); }
        static void two(lock_t *l) { one(l); }
        static void three(lock_t *l) { two(l); }
        static void four(lock_t *l) { three(l); }
        void *work(void *p) { four(a); return 0; }
        void body(void) { four(b); four(a); }""",
    "a lock made in a loop": """
        lock_t *all[2];
        static void make(void) { for (int i = 0; i < 2; i++) all[i] = new_lock(); }
        void *work(void *p) { add(all[0], &x); return 0; }
        void body(void) { make(); add(all[1], &x); }""",
    "made by a function that runs twice": """
        static lock_t *again(void) { lock_t *l = new_lock(); return l; }
        lock_t *c, *d;
        static void twice(int n) { if (n) c = again(); else d = again(); }
        void *work(void *p) { lock(c); x = 1; unlock(c); return 0; }
        void body(void) { twice(1); twice(0); lock(d); x = 2; unlock(d); }""",
    "through a function pointer": """
        void (*how)(lock_t *, int *) = add;
        void *work(void *p) { how(a, &x); return 0; }
        void body(void) { how(b, &x); }""",
    "released by a recursive function": """
        static void deep(lock_t *l, int n) { if (n) deep(l, n - 1); else unlock(l); }
        void *work(void *p) { add(a, &x); return 0; }
        void body(void) { lock(a); deep(a, 3); x = 1; }""",
    "the object comes back by another way": """
        static void keep(lock_t *l, int *n) { l->owned = n; }
        static int *kept(lock_t *l) { return l->owned; }
        void *work(void *p) { *kept(a) = 1; return 0; }
        void body(void) { keep(a, &x); keep(b, &y); *kept(a) = 2; *kept(b) = 3; }""",
    "kept in a static of the callee": """
        static int *last(int *n) { static int *old; int *before = old; old = n; return before; }
        void *work(void *p) { int *q = last(&x); if (q) *q = 1; return 0; }
        void body(void) { int *q = last(&y); if (q) *q = 2; x = 3; }""",
}


@pytest.mark.parametrize("case", SAFE, ids=str)
def test_locks_of_different_calls_are_different_locks(case: str) -> None:
    assert answer(SAFE[case] + MAIN).outcome is Outcome.RACE_FREE


@pytest.mark.parametrize("case", RACY, ids=str)
def test_races_are_not_lost_between_frames(case: str) -> None:
    found = answer(RACY[case] + MAIN)
    assert found.outcome is not Outcome.RACE_FREE
    assert any(finding.location.name in ("x", "y") for finding in found.findings)


@pytest.mark.parametrize("case", RACY, ids=str)
def test_races_are_found_if_functions_are_gone_through_once(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walker, "_MOST_CALLS", 0)
    found = answer(RACY[case] + MAIN)
    assert found.outcome is not Outcome.RACE_FREE
    assert any(finding.location.name in ("x", "y") for finding in found.findings)


def test_a_call_means_no_function_that_wants_another_kind_of_value() -> None:
    program = """
        static void number(int n) { x = n; }
        static void address(int *n) { *n = 1; }
        void (*how)() = address;
        void *work(void *p) { x = 1; return 0; }
        void body(void) { if (a == b) how = (void (*)())number; ((void (*)(int *))how)(&y); }
        """
    assert answer(program + MAIN).outcome is Outcome.RACE_FREE
    called = program.replace("((void (*)(int *))how)(&y)", "((void (*)(int))how)(1)")
    assert answer(called + MAIN).outcome is not Outcome.RACE_FREE
