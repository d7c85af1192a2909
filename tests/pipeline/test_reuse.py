"""Addresses, ids and places are used again, comparisons come in any order: no proof rests on what
one execution did."""

from __future__ import annotations

import time

import pytest

from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.pipeline.proofs import ask
from raceproof.verdict import Outcome
from tests.lowering import lower

_SETUP = """
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static int x, calls, *kept, last;
static pthread_t ids[2], boss;
static uintptr_t places[2];
static pthread_key_t key;
static int three[3] = {3, 1, 2};
static struct pair { int key, value; } pairs[2] = {{1, 1}, {1, 2}};
static uintptr_t here(void) { volatile int local = 0; return (uintptr_t)&local; }
static void keep(void) { int local = 0; kept = &local; }
static void *note(void *to) { int local = 0; *(uintptr_t *)to = (uintptr_t)&local; return 0; }
static void *claim(void *to) { *(pthread_t *)to = pthread_self(); return 0; }
static void wait_for(void *(*run)(void *), void *given) {
    pthread_t t; pthread_create(&t, 0, run, given); pthread_join(t, 0); }
static int counting(const void *a, const void *b) {
    calls++; last = *(const int *)b; return *(const int *)a - *(const int *)b; }
static int by_key(const void *a, const void *b) {
    return ((const struct pair *)a)->key - ((const struct pair *)b)->key; }
static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
"""
_OPEN = {
    "numbers of dead slots": ("places[0] = here(); places[1] = here();", "places[0] == places[1]"),
    "dead slots": ("keep(); int *old = kept; keep();", "old == kept"),
    "stacks of threads": (
        "wait_for(note, &places[0]); wait_for(note, &places[1]);",
        "places[0] == places[1]",
    ),
    "bytes of dead slots": (
        "places[0] = here(); places[1] = here();",
        "memcmp(&places[0], &places[1], sizeof places[0]) == 0",
    ),
    "a difference": ("places[0] = here(); places[1] = here();", "places[0] - places[1] == 0"),
    "numbers of freed blocks": (
        "char *p = malloc(8); uintptr_t old = (uintptr_t)p; free(p); p = malloc(8);",
        "old == (uintptr_t)p",
    ),
    "ids": ("wait_for(claim, &ids[0]); wait_for(claim, &ids[1]);", "ids[0] == ids[1]"),
    "bytes of ids": (
        "wait_for(claim, &ids[0]); wait_for(claim, &ids[1]);",
        "memcmp(&ids[0], &ids[1], sizeof ids[0]) == 0",
    ),
    "how often qsort compares": ("qsort(three, 3, sizeof(int), counting);", "calls == 4"),
    "what qsort compares last": ("qsort(three, 3, sizeof(int), counting);", "last == 1"),
    "equal elements": ("qsort(pairs, 2, sizeof pairs[0], by_key);", "pairs[0].value == 2"),
    "how often bsearch compares": (
        "int k = 2; bsearch(&k, three, 3, sizeof(int), counting);",
        "calls == 3",
    ),
}
_DECIDED = {
    "the main thread": ("boss = pthread_self();", "boss == 0"),
    "a live slot": ("int local = 0; kept = &local;", "kept == 0"),
    "a pure comparison": ("qsort(three, 3, sizeof(int), by_value);", "three[0] == 3"),
}


def outcome_of(engine: str, before: str, condition: str, seconds: float = 60.0) -> Outcome:
    program = lower(
        f"{_SETUP}static void *racer(void *unused) {{ (void)unused; x = 1; return 0; }}"
        f"int main(void) {{ pthread_t t; {before} pthread_create(&t, 0, racer, 0);"
        f"if ({condition}) x = 2; pthread_join(t, 0); return 0; }}"
    )
    question = Question(Options(), deadline=time.monotonic() + seconds)
    return ask(engine, program, question).outcome


@pytest.mark.parametrize("engine", ["modular", "interleave", "bounded"])
@pytest.mark.parametrize("case", sorted(_OPEN))
def test_what_nobody_chooses_is_not_proved(engine: str, case: str) -> None:
    assert outcome_of(engine, *_OPEN[case], 1.0) is not Outcome.RACE_FREE


@pytest.mark.parametrize("case", sorted(_DECIDED))
def test_what_is_the_same_in_every_execution_is_proved(case: str) -> None:
    assert outcome_of("interleave", *_DECIDED[case]) is Outcome.RACE_FREE
