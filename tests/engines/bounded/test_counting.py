"""Loops that count from an unknown number: every count is looked at, and no other."""

from pathlib import Path

import pytest

from raceproof.verdict import Outcome
from tests.engines.bounded.helpers import TWO_THREADS, ask, load, unfold

PROGRAM = """
extern void __VERIFIER_assume(int);
extern unsigned __VERIFIER_nondet_uint(void);
int shared;
static void *first(void *arg)
{{
    {loop} {{
        if (j == {wanted})
            shared = 1;
    }}
    return NULL;
}}
static void *second(void *arg) {{ shared = 2; return NULL; }}
"""
UP = "int j = __VERIFIER_nondet_int(); if (j < -2) return NULL; for (; j < 4; j++)"
LOOPS = {
    "up": (UP, -2, 3),
    "up to and with": (UP.replace("j < 4", "j <= 4"), -2, 4),
    "the other way round": (UP.replace("j < 4", "4 > j"), -2, 3),
    "down": ("int j = __VERIFIER_nondet_int(); if (j > 5) return NULL; for (; j > 1; j--)", 2, 5),
    "down to and with": (
        "int j = __VERIFIER_nondet_int(); if (5 < j) return NULL; for (; j >= 1; j--)",
        1,
        5,
    ),
    "unsigned": ("unsigned j = __VERIFIER_nondet_uint(); for (; j < 6; j++)", 0, 5),
    "one of two": ("int j = __VERIFIER_nondet_int() ? 2 : 4; for (; j < 7; j++)", 2, 6),
    "assumed": (
        "int j = __VERIFIER_nondet_int(); __VERIFIER_assume(3 <= j); for (; j < 9; j++)",
        3,
        8,
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_all_counts_and_no_others(name: str, tmp_path: Path) -> None:
    loop, low, high = LOOPS[name]
    for wanted in range(low - 1, high + 2):
        text = PROGRAM.format(loop=loop, wanted=wanted) + TWO_THREADS
        program = load(tmp_path, text)
        answer = ask(program, stop_at_first=True)
        expected = Outcome.RACE if low <= wanted <= high else Outcome.RACE_FREE
        assert answer.outcome is expected, (wanted, answer.detail)


def test_counts_are_constants(tmp_path: Path) -> None:
    """Each copy of the body knows its lock, so that no pointer has to be chosen."""
    program = load(
        tmp_path,
        """
pthread_mutex_t locks[10];
int numbers[10];
static void *first(void *arg)
{
    int j = __VERIFIER_nondet_int();
    if (j < 0)
        return NULL;
    for (; j < 10; j++) {
        pthread_mutex_lock(&locks[j]);
        numbers[j]++;
        pthread_mutex_unlock(&locks[j]);
    }
    return NULL;
}
static void *second(void *arg) { return first(arg); }
"""
        + TWO_THREADS,
    )
    unfolding = unfold(program).result
    events = [event for thread in unfolding.threads[1:] for event in thread.events]
    assert sum(event.kind == "lock" for event in events) == 20
    assert all(o.address.is_constant for event in events for o in event.operations)
    assert not any(thread.cuts for thread in unfolding.threads)
    assert ask(program).outcome is Outcome.RACE_FREE


def test_a_count_without_bound_is_unrolled_as_ever(tmp_path: Path) -> None:
    loop = "int j = __VERIFIER_nondet_int(); for (; j < 4; j++)"
    program = load(tmp_path, PROGRAM.format(loop=loop, wanted=9) + TWO_THREADS)
    assert ask(program).outcome is Outcome.UNKNOWN


def test_a_long_loop_is_unrolled_further_for_a_proof(tmp_path: Path) -> None:
    text = """
pthread_mutex_t lock;
int numbers[800];
static void *first(void *arg)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 160; i++) {
        numbers[4 * i]++;
        numbers[4 * i + 3]++;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *second(void *arg) { return first(arg); }
"""
    answer = ask(load(tmp_path, text + TWO_THREADS))
    assert answer.outcome is Outcome.RACE_FREE
    assert "none exceeds" in answer.detail
