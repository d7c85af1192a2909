"""Programs that act by where their objects lie: one layout without a race proves nothing."""

from __future__ import annotations

import time

import pytest

from raceproof.engines.question import Question
from raceproof.options import Options
from raceproof.pipeline.proofs import ask
from raceproof.verdict import Outcome
from tests.lowering import lower

_LOOKS = {
    "comes first": "(uintptr_t)&x < (uintptr_t)&y",
    "comes last": "(uintptr_t)&x > (uintptr_t)&y",
    "comes last, as pointers": "(void *)&x > (void *)&y",
    "some bits": "((uintptr_t)&x & 0x70) == 0x30",
    "other bits": "((uintptr_t)&x & 0x70) == 0x40",
    "one byte": "(unsigned char)(uintptr_t)&x == 64",
    "a hash that is kept": "(kept = (uintptr_t)&x) % 7 == 3",
    "a number": "(uintptr_t)&x == 4198400",
    "a distance": "(uintptr_t)&x - (uintptr_t)&y == 4",
    "another distance": "(uintptr_t)&y - (uintptr_t)&x == 4",
}
_INNOCENT = {
    "null": "(uintptr_t)&x == 0",
    "an error number": "(uintptr_t)p >= (uintptr_t)-4095",
    "within an object": "p >= data + 4",
    "an index": "(p - data) * 2 > 7",
    "the same": "(uintptr_t)&x == (uintptr_t)&y",
    "a number in a pointer": "((uintptr_t)unused & 3) == 1",
}


def outcome_of(engine: str, condition: str) -> Outcome:
    program = lower(f"""
#include <pthread.h>
#include <stdint.h>
static int x, y, z, data[4], *p = data;
static uintptr_t kept;
static void *ask(void *unused) {{ (void)unused; if ({condition}) z = 1; return 0; }}
int main(void) {{ pthread_t t; pthread_create(&t, 0, ask, 0); z = 2; pthread_join(t, 0);
    x = y = (int)kept; return *p; }}""")
    question = Question(Options(), deadline=time.monotonic() + 60)
    return ask(engine, program, question).outcome


@pytest.mark.parametrize("engine", ["interleave", "bounded"])
@pytest.mark.parametrize("look", _LOOKS)
def test_no_proof_for_one_layout(engine: str, look: str) -> None:
    assert outcome_of(engine, _LOOKS[look]) is not Outcome.RACE_FREE


@pytest.mark.parametrize("engine", ["interleave", "bounded"])
@pytest.mark.parametrize("look", _INNOCENT)
def test_what_is_the_same_in_every_layout_is_no_obstacle(engine: str, look: str) -> None:
    assert outcome_of(engine, _INNOCENT[look]) is Outcome.RACE_FREE
