"""What the formula for all schedules leaves out, because no race depends on it."""

from pathlib import Path

from raceproof.engines.bounded.cells import UnfoldCells
from raceproof.engines.bounded.events import Read
from raceproof.engines.bounded.influence import Influence
from raceproof.verdict import Outcome
from tests.engines.bounded.helpers import TWO_THREADS, ask, load, unfold

PROGRAM = """
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum, limit = 1, start, shared;
static void *first(void *arg)
{
    pthread_mutex_lock(&lock);
    sum += shared;
    limit = start;
    start = 5;
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *second(void *arg)
{
    pthread_mutex_lock(&lock);
    sum += 2;
    start = 3;
    if (limit == 3)
        shared = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}
"""


def test_what_is_only_computed_does_not_matter(tmp_path: Path) -> None:
    unfolder = unfold(load(tmp_path, PROGRAM + TWO_THREADS))
    unfolding = unfolder.result
    influence = Influence(unfolding, UnfoldCells(unfolding, unfolder.terms))
    matters: dict[str, set[bool]] = {}
    for thread in unfolding.threads:
        for event in thread.events:
            for operation in event.operations:
                if isinstance(operation, Read) and not operation.places[0][0].is_shadow:
                    name = operation.places[0][0].name
                    matters.setdefault(name, set()).add(influence.matters(operation))
    assert matters["sum"] == {False}
    assert matters["limit"] == {True}
    assert matters["start"] == {True}, "limit is copied from it"


def test_a_proof_needs_what_matters_only(tmp_path: Path) -> None:
    assert ask(load(tmp_path, PROGRAM + TWO_THREADS)).outcome is Outcome.RACE_FREE
