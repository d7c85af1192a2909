"""Memory outside of the program: static results of library functions, what unknown code returns.

No engine claims that a program is race-free in which two threads may meet there.
"""

import pytest

from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.pipeline import check
from raceproof.pipeline.proofs import ask
from raceproof.verdict import BaseKind, Confidence, Outcome, Verdict
from tests.lowering import lower

HEAD = """
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <pwd.h>
extern int *somewhere(void);
extern int *elsewhere(void);
extern char **environ;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int one, two;
time_t now;
"""


def program(first: str, second: str) -> str:
    return f"""{HEAD}
    void *first(void *p) {{ {first} return 0; }}
    void *second(void *p) {{ {second} return 0; }}
    int main(void) {{
        pthread_t s, t;
        pthread_create(&s, 0, first, 0);
        pthread_create(&t, 0, second, 0);
        pthread_join(s, 0);
        pthread_join(t, 0);
        return 0;
    }}
    """


def locked(what: str) -> str:
    return f"pthread_mutex_lock(&m); {what} pthread_mutex_unlock(&m);"


HIDDEN = {
    "two calls": ("localtime(&now);", "localtime(&now);"),
    "two functions with one object": ("localtime(&now);", "gmtime(&now);"),
    "a call and a look at an earlier result": (
        "struct tm *t;" + locked("t = localtime(&now);") + "one = t->tm_hour;",
        locked("localtime(&now);"),
    ),
    "one locked, one not": (locked("getpwuid(0);"), "getpwuid(1);"),
}
KEPT = {
    "no result": ("char a[] = {65, 0}; strtok(a, a);", "char b[] = {66, 0}; strtok(b, b);"),
    "an object with a name": ('setenv("A", "1", 1);', 'putenv("A=2");'),
    "what one returns and another changes": (
        'char *e = getenv("A"); if (e) one = *e;',
        'unsetenv("A");',
    ),
}
"""Functions with a body: what they keep is an object like others."""
OUTSIDE = {
    "two writes": ("*somewhere() = 1;", "*somewhere() = 2;"),
    "a write and a read": ("*somewhere() = 1;", "one = *somewhere();"),
    "from two functions": ("*somewhere() = 1;", "elsewhere()[1] = 2;"),
    "written through a static result": (
        "localtime(&now)->tm_hour = 1;",
        locked("localtime(&now)->tm_hour = 1;"),
    ),
    "at an address of its own": ("*(int *)0x12345678 = 1;", "*(int *)0x12345678 = 2;"),
}
FINE = {
    "all under a lock": (
        locked("one = localtime(&now)->tm_hour;"),
        locked("two = localtime(&now)->tm_hour;"),
    ),
    "one thread only": ("one = localtime(&now)->tm_hour;", "two = 1;"),
    "the safe way": (
        "struct tm t; one = localtime_r(&now, &t)->tm_hour;",
        "struct tm t; two = localtime_r(&now, &t)->tm_hour;",
    ),
    "the environment, read": (
        'char *e = getenv("A"); if (e) one = *e;',
        'char *e = getenv("B"); if (e) two = *e;',
    ),
    "messages": ("one = *strerror(1);", "two = *strerror(2);"),
    "only read": ("one = *somewhere();", "two = *somewhere();"),
    "outside, under a lock": (locked("*somewhere() = 1;"), locked("*somewhere() = 2;")),
}


def judged(text: str) -> Verdict:
    return check(lower(text), Options(timeout=20))


@pytest.mark.parametrize("name", [*HIDDEN, *OUTSIDE])
def test_meeting_outside_is_a_possible_race(name: str) -> None:
    verdict = judged(program(*{**HIDDEN, **OUTSIDE}[name]))
    assert verdict.outcome is Outcome.UNKNOWN
    assert {f.location.kind for f in verdict.findings} == {BaseKind.EXTERNAL}
    assert {f.confidence for f in verdict.findings} == {Confidence.POSSIBLE}


@pytest.mark.parametrize("name", KEPT)
def test_meeting_in_what_a_function_keeps_is_a_race(name: str) -> None:
    verdict = judged(program(*KEPT[name]))
    assert verdict.outcome is Outcome.RACE
    assert any(
        f.confidence is Confidence.CONFIRMED and f.location.name.endswith(" of the C library")
        for f in verdict.findings
    )


@pytest.mark.parametrize("name", FINE)
def test_not_meeting_outside_is_fine(name: str) -> None:
    assert judged(program(*FINE[name])).outcome is Outcome.RACE_FREE


@pytest.mark.parametrize("name", [*HIDDEN, *OUTSIDE])
@pytest.mark.parametrize("backend", [BackendChoice.ALIAS, BackendChoice.SYNTACTIC])
def test_no_backend_proves_it(backend: BackendChoice, name: str) -> None:
    found = lower(program(*{**HIDDEN, **OUTSIDE}[name]))
    answer = ask("modular", found, Question(Options(backend=backend)))
    assert answer.outcome is not Outcome.RACE_FREE


@pytest.mark.parametrize("name", ["two calls", "one locked, one not"])
@pytest.mark.parametrize("engine", ["interleave", "bounded"])
def test_no_engine_proves_it_alone(engine: str, name: str) -> None:
    found = lower(program(*HIDDEN[name]))
    answer = ask(engine, found, Question(Options(timeout=20)))
    assert answer.outcome is Outcome.UNKNOWN
    assert [a for a in answer.assumptions if a.startswith("not seen: what `")]


def test_the_first_thread_may_call_what_it_likes() -> None:
    text = HEAD + "int main(void) { localtime(&now); return gmtime(&now)->tm_hour; }"
    answer = ask("interleave", lower(text), Question(Options(timeout=20)))
    assert answer.outcome is Outcome.RACE_FREE
