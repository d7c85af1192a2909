"""Reads and writes through pointers that may lead to several places."""

from pathlib import Path

import pytest

from raceproof.verdict import Outcome
from tests.engines.bounded.helpers import TWO_THREADS, ask, load, unfold

PROGRAM = """
#include <stdatomic.h>
extern void __VERIFIER_assume(int);
_Atomic int cells[3];
_Atomic char bytes[4];
int shared;
static int any(int count)
{{
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 <= n && n < count);
    return n;
}}
static void *first(void *arg)
{{
    {first}
    return NULL;
}}
static void *second(void *arg)
{{
    {second}
    return NULL;
}}
"""
ONE = "atomic_store(&cells[any(2)], 1);"
TWO = "atomic_store(&cells[0], 1); atomic_store(&cells[any(2)], 2);"
RACE = "shared = 1;"
CASES = [
    (ONE + RACE, f"if (atomic_load(&cells[any(3)]) == 1) {RACE}", True),
    (ONE + RACE, f"if (atomic_load(&cells[any(3)]) == 2) {RACE}", False),
    (ONE + RACE, f"if (atomic_load(&cells[2]) == 1) {RACE}", False),
    (TWO + RACE, f"int n = any(3), x = atomic_load(&cells[n]); if (n && x == 1) {RACE}", False),
    (TWO + RACE, f"int n = any(3), x = atomic_load(&cells[n]); if (n && x == 2) {RACE}", True),
    (TWO + RACE, f"int n = any(3), x = atomic_load(&cells[n]); if (n > 1 && x) {RACE}", False),
    (
        TWO + RACE,
        "int n = any(3), x = atomic_load(&cells[n]), y = atomic_load(&cells[n]);"
        f"if (x == 2 && y == 1) {RACE}",
        False,
    ),
    (
        "atomic_store(&cells[any(2)], 1); atomic_store(&cells[any(2)], 0);" + RACE,
        "int n = any(2), x = atomic_load(&cells[n]), y = atomic_load(&cells[n]);"
        f"if (x == 1 && y == 0) {RACE}",
        True,
    ),
    (
        f"*(int *)&bytes[0] = 0x02000100; atomic_store(&cells[0], 1); {RACE}",
        f"if (atomic_load(&cells[0])) {{ char x = bytes[any(4)]; if (x == 2) {RACE} }}",
        True,
    ),
    (
        f"*(int *)&bytes[0] = 0x02000100; atomic_store(&cells[0], 1); {RACE}",
        f"if (atomic_load(&cells[0])) {{ char x = bytes[any(3)]; if (x == 2) {RACE} }}",
        False,
    ),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_last_write_to_the_same_place_is_read(case: int, tmp_path: Path) -> None:
    first, second, is_racy = CASES[case]
    program = load(tmp_path, PROGRAM.format(first=first, second=second) + TWO_THREADS)
    answer = ask(program)
    assert answer.outcome is (Outcome.RACE if is_racy else Outcome.RACE_FREE), answer.detail


def test_few_values_lead_to_few_places(tmp_path: Path) -> None:
    """Threads hand on their nodes, each with the queue to take next: of all that a node may say,
    only what some thread writes there counts."""
    text = """
#include <stdatomic.h>
struct node { _Atomic unsigned state; };
struct { struct node *_Atomic queues[2]; struct node *_Atomic last; struct node spare; } lock;
struct node nodes[2];
static void *take(struct node *mine)
{
    unsigned queue = atomic_load(&mine->state) & 0xff;
    struct node *before = atomic_exchange(&lock.queues[queue], mine);
    if (before) {
        unsigned state = atomic_load(&before->state);
        atomic_store(&before->state, state | 0x100);
        atomic_store(&mine->state, state | 0x200);
        atomic_exchange(&lock.queues[state & 0xff], mine);
    }
    return NULL;
}
static void *first(void *arg) { return take(&nodes[0]); }
static void *second(void *arg) { atomic_store(&nodes[0].state, 1); return take(&nodes[1]); }
"""
    unfolding = unfold(load(tmp_path, text + TWO_THREADS)).result
    updates = [
        operation
        for thread in unfolding.threads
        for event in thread.events
        if event.kind == "update"
        for operation in event.operations
    ]
    assert updates
    assert all(len(operation.places) <= 2 for operation in updates)
