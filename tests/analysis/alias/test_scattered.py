"""Addresses that are taken apart, moved about or computed by constants: none may get lost."""

from __future__ import annotations

import pytest

from raceproof.analysis.alias.points_to import PointsTo
from raceproof.concurrency import Events, Models
from raceproof.engines.pairwise import Failure
from raceproof.ir import Store
from tests.engines.pairwise.pair_programs import outcome_of
from tests.lowering import lower

_HEAD = """
#include <pthread.h>
#include <stdlib.h>
static int x, y, *p = &x, *q = &y, array[4];
static union { double number; int *pointer; } here = {.pointer = &x}, there = {.pointer = &y};
static int *both[2] = {&y, &x};
static int before(const void *a, const void *b) { return -1; }
static int *made(int *of) {
    unsigned low = (unsigned long)of, high = (unsigned long)of >> 32;
    return y ? &y : (int *)((unsigned long)high << 32 | low); }
"""
_LOST = {
    "bytes": "for (int i = 0; i < 8; i++) ((char *)&q)[i] = ((char *)&p)[i]; *q = 77;",
    "halves": "*made(&x) = 77;",
    "a double": "there.number = here.number; *there.pointer = 77;",
    "sorted": "qsort(both, 2, sizeof both[0], before); *both[0] = 77;",
}


def _program(body: str, target: str) -> str:
    return f"""{_HEAD}
static void *one(void *arg) {{ {body} return 0; }}
static void *other(void *arg) {{ {target} = 2; return 0; }}
int main(void) {{ pthread_t a, b;
    pthread_create(&a, 0, one, 0); pthread_create(&b, 0, other, 0);
    pthread_join(a, 0); pthread_join(b, 0); return 0; }}"""


def _targets(text: str) -> set[object]:
    """The globals that 77 may be written to."""
    program = lower(text)
    points_to = PointsTo(program, Events(program, Models.load()))
    stores = [
        (function.name, instruction.pointer)
        for function, instruction in program.all_instructions()
        if isinstance(instruction, Store) and getattr(instruction.value, "value", None) == 77
    ]
    return {t.descriptor for at in stores for t, _ in points_to.targets(*at)}


@pytest.mark.parametrize("how", sorted(_LOST))
def test_scattered_addresses_are_followed(how: str) -> None:
    text = _program(_LOST[how], "x")
    assert {("global", "x"), ("global", "y")} <= _targets(text)
    assert isinstance(outcome_of(text), Failure)


def test_a_constant_before_an_array_leads_into_it() -> None:
    text = _program("int *from_one = array - 1; from_one[1] = 77;", "array[0]")
    assert _targets(text) == {("global", "array")}
    assert isinstance(outcome_of(text), Failure)


def test_a_number_that_is_only_compared_scatters_nothing() -> None:
    body = "if ((int)(long)p == 5) return 0; *q = 77;"
    assert _targets(_program(body, "x")) == {("global", "y")}
