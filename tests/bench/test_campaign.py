"""The campaign's mutants and random programs: each kind of mistake is made, and only that one."""

from __future__ import annotations

import pytest

from benchmarks.campaign.mutants import mutants
from benchmarks.campaign.random_programs import random_program

_TEXT = """#include <pthread.h>
static _Atomic int n;
static int a[2];
static _Thread_local int own;
static pthread_mutex_t one, two;
static void *work(void *arg)
{
    pthread_mutex_lock(&one);
    a[0] = 1;
    pthread_mutex_unlock(&one);
    pthread_mutex_lock(&two);
    pthread_mutex_unlock(&two);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    for (int i = 0; i < 2; i++)
        n++;
    pthread_join(t, 0);
    return own;
}
"""


@pytest.mark.parametrize(
    ("operator", "gone", "left"),
    [
        ("drop-lock-pair", "pthread_mutex_lock(&one);", "pthread_mutex_lock(&two);"),
        ("drop-wait", "pthread_join", "pthread_create"),
        ("drop-atomic", "_Atomic", "_Thread_local"),
        ("swap-lock", "lock(&one)", "lock(&two)"),
        ("shift-index", "a[0] =", "a[2]"),
        ("drop-thread-local", "_Thread_local", "_Atomic"),
        ("loop-bound", "i < 2", "n++"),
    ],
)
def test_makes_the_mistake(operator: str, gone: str, left: str) -> None:
    made = [mutant for mutant in mutants(_TEXT) if mutant.operator == operator]
    assert any(gone not in mutant.text and left in mutant.text for mutant in made)
    assert all(mutant.text.count("\n") == _TEXT.count("\n") for mutant in made)


def test_creates_one_more_thread() -> None:
    made = [mutant.text for mutant in mutants(_TEXT) if mutant.operator == "more-threads"]
    assert [text.count("pthread_create(") for text in made] == [2]


def test_random_programs_are_the_same_for_the_same_number() -> None:
    assert random_program(7).text == random_program(7).text
    assert {random_program(number).is_broken for number in range(20)} == {True, False}
