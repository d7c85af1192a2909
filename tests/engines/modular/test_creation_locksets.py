"""Locks held at the creation of a thread that has to take them."""

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.verdict import Outcome
from tests.lowering import lower

HEAD = """
#include <pthread.h>
int x;
extern int any(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
"""
LOCK, UNLOCK = "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"
CREATE = "pthread_create(&t, 0, child, 0);"


def program(creator: str, child: str) -> str:
    return (
        f"{HEAD}void *child(void *p) {{ {child} return 0; }}\n"
        f"int main(void) {{ pthread_t t, u; {creator} pthread_join(t, 0); return 0; }}"
    )


def outcome(creator: str, child: str) -> Outcome:
    return ENGINE.run(lower(program(creator, child)), Question(Options())).outcome


PASSES = f"{LOCK} {UNLOCK} x = 2;"


@pytest.mark.parametrize(
    ("creator", "child"),
    [
        (f"{LOCK} {CREATE} x = 1; {UNLOCK}", PASSES),
        (f"{LOCK} x = 0; {CREATE} if (any()) x = 1; {UNLOCK}", PASSES),
        (f"{LOCK} {CREATE} x = 1; {UNLOCK}", f"if (any()) {{ {LOCK} }} else {LOCK} x = 2;"),
        (
            "pthread_rwlock_wrlock(&rw);" + CREATE + "x = 1; pthread_rwlock_unlock(&rw);",
            "pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw); x = 2;",
        ),
        (
            f"{LOCK} {CREATE} pthread_mutex_lock(&n); pthread_mutex_unlock(&n); x = 1; {UNLOCK}",
            PASSES,
        ),
    ],
    ids=["gate", "on some ways", "either way", "read-write lock", "another lock between"],
)
def test_kept_back(creator: str, child: str) -> None:
    assert outcome(creator, child) is Outcome.RACE_FREE


@pytest.mark.parametrize(
    ("creator", "child"),
    [
        (f"{LOCK} {CREATE} {UNLOCK} x = 1;", PASSES),
        (f"{LOCK} {CREATE} {UNLOCK} {LOCK} x = 1; {UNLOCK}", PASSES),
        (f"{CREATE} {LOCK} x = 1; {UNLOCK}", PASSES),
        (f"{LOCK} {CREATE} x = 1; {UNLOCK}", f"x = 2; {LOCK} {UNLOCK}"),
        (f"{LOCK} {CREATE} x = 1; {UNLOCK}", f"if (any()) {{ {LOCK} {UNLOCK} }} x = 2;"),
        (f"{LOCK} {CREATE} x = 1; {UNLOCK}", "pthread_mutex_trylock(&m); x = 2;"),
        (
            f"{LOCK} {CREATE} x = 1; {UNLOCK}",
            "pthread_mutex_lock(&n); pthread_mutex_unlock(&n); x = 2;",
        ),
        (f"if (any()) {LOCK} {CREATE} x = 1; {UNLOCK}", PASSES),
        (f"{LOCK} {CREATE} pthread_cond_wait(&c, &m); x = 1; {UNLOCK}", PASSES),
        (f"{LOCK} {CREATE} pthread_mutex_unlock(any() ? &m : &n); {LOCK} x = 1;", PASSES),
        (
            "pthread_rwlock_rdlock(&rw);" + CREATE + "x = 1; pthread_rwlock_unlock(&rw);",
            "pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw); x = 2;",
        ),
        (f"{CREATE} {LOCK} pthread_create(&u, 0, child, 0); x = 1; {UNLOCK}", PASSES),
        (f"while (any()) {{ {LOCK} {CREATE} x = 1; {UNLOCK} }}", PASSES),
        (
            f"for (int i = 0; i < 99; i++) {{ if (i != 50) {LOCK} {CREATE} x = 1; {UNLOCK}"
            " pthread_join(t, 0); }",
            PASSES,
        ),
    ],
    ids=[
        "after it is opened",
        "closed again",
        "closed too late",
        "before the gate",
        "on some ways",
        "tried only",
        "another gate",
        "perhaps not closed",
        "opened by waiting",
        "perhaps opened",
        "both read",
        "one came earlier",
        "many",
        "once not closed",
    ],
)
def test_not_kept_back(creator: str, child: str) -> None:
    assert outcome(creator, child) is not Outcome.RACE_FREE
