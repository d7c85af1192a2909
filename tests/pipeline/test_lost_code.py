"""No proof rests on threads or functions that are lost behind something undefined."""

from __future__ import annotations

import time

import pytest

from raceproof.engines.question import Question
from raceproof.options import BackendChoice, Options
from raceproof.pipeline import check
from raceproof.pipeline.proofs import ask
from raceproof.verdict import Answer, Outcome
from tests.lowering import lower

HEAD = """
#include <pthread.h>
#include <stdlib.h>
struct job { int n; struct job *next; void (*run)(void); };
struct job *none;
int x, many[4];
extern int any(void);
static void *work(void *unused) { x++; return 0; }
static void start(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
"""
LOST = {
    "null is written to": "int main(void) { none->n = 1; start(); return 0; }",
    "null is read": "int main(void) { if (none->n) return 0; start(); return 0; }",
    "in a function that is called": """
        static void prepare(struct job *job) { job->n = 1; }
        int main(void) { prepare(none); start(); return 0; }""",
    "in a function that others return from": """
        static void prepare(struct job *job) { job->n = 1; }
        int main(int n, char **v) {
            struct job job;
            if (n > 5) { prepare(&job); return 0; }
            prepare(none); start(); return 0;
        }""",
    "outside of an object": "int main(void) { *(&x + 100) = 1; start(); return 0; }",
    "a call of null": "int main(void) { void (*run)(void) = 0; run(); start(); return 0; }",
    "in a thread that is waited for": """
        static void *first(void *unused) { none->n = 1; return 0; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, first, 0);
            pthread_join(t, 0);
            start();
            return 0;
        }""",
    "in a callback": """
        static int order(const void *a, const void *b) { none->n = 1; return 0; }
        int main(void) { int (*f)(const void *, const void *) = order; f(0, 0); start(); return 0; }
        """,
    "a value that the lost way sets": """
        int main(int n, char **v) {
            if (n > 1) { none->n = 1; x = 1; }
            if (x) start();
            return 0;
        }""",
    "behind a loop": """
        int main(void) {
            struct job *job = none;
            for (int i = 0; i < 3; i++) job = job->next;
            start();
            return 0;
        }""",
    "where a function returns to no caller": """
        static struct job *first(void) { return none->next; }
        static int size(void) { return first()->n; }
        int main(void) { if (size() > 3) abort(); start(); return 0; }""",
}
DECIDED = {
    "a branch that values decide": "int main(void) { if (x) start(); return 0; }",
    "after exit": "int main(void) { exit(0); start(); return 0; }",
    "after an endless loop": "int main(void) { for (;;) many[0]++; start(); return 0; }",
    "after a function that ends the process": """
        static void fatal(void) { exit(1); }
        int main(void) { fatal(); start(); return 0; }""",
    "after an assumption": """
        extern void __VERIFIER_assume(int);
        int main(void) { __VERIFIER_assume(0); start(); return 0; }""",
    "an end that nothing lies behind": """
        static void crash(void) { *(int *)0 = 1; abort(); }
        int main(void) { if (x) start(); if (any()) crash(); return 0; }""",
    "a decided branch behind an end that others get past": """
        static void set(struct job *job) { job->n = 1; }
        int main(void) {
            struct job job;
            if (any()) set(none);
            set(&job);
            if (x) start();
            return 0;
        }""",
}


def answer(engine: str, text: str, **options: object) -> Answer:
    question = Question(Options(**options), deadline=time.monotonic() + 4)  # type: ignore[arg-type]
    return ask(engine, lower(HEAD + text), question)


@pytest.mark.parametrize("name", LOST)
@pytest.mark.parametrize("engine", ["modular", "pairwise", "bounded"])
def test_lost_threads_are_not_proved(engine: str, name: str) -> None:
    found = answer(engine, LOST[name])
    assert found.outcome is not Outcome.RACE_FREE
    if engine == "modular":
        (lost,) = found.lost or ()
        assert "no execution goes on after" in lost
        assert "thread created at" in lost
        assert found.outcome is Outcome.RACE or found.detail.startswith("not seen: ")


@pytest.mark.parametrize("name", ["null is written to", "outside of an object", "a call of null"])
def test_schedules_that_end_undefined_prove_nothing(name: str) -> None:
    found = answer("interleave", LOST[name])
    assert found.outcome is Outcome.UNKNOWN
    assert "no execution goes on after" in found.detail


def test_a_path_is_not_lost_without_values() -> None:
    found = answer("modular", LOST["null is written to"], backend=BackendChoice.ALIAS)
    assert found.outcome is Outcome.RACE


@pytest.mark.parametrize("name", DECIDED)
def test_what_values_decide_is_proved(name: str) -> None:
    found = answer("modular", DECIDED[name])
    assert found.outcome is Outcome.RACE_FREE, found


@pytest.mark.parametrize("name", ["null is read", "in a thread that is waited for"])
def test_the_verdict_says_what_is_lost(name: str) -> None:
    verdict = check(lower(HEAD + LOST[name]), Options(timeout=5))
    assert verdict.outcome is Outcome.UNKNOWN
    assert any("not seen: " in assumption for assumption in verdict.assumptions)
