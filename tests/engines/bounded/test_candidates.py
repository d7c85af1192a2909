"""Asked about candidates, the engine settles location after location."""

from pathlib import Path

from raceproof.engines.bounded import ENGINE
from raceproof.engines.modular import ENGINE as MODULAR
from raceproof.engines.question import Question
from raceproof.ir import Program
from raceproof.options import Options
from raceproof.verdict import Candidate, Outcome
from tests.engines.bounded.helpers import TWO_THREADS, load

PROGRAM = """
#include <stdatomic.h>
static int one, two, three;
static atomic_int turn;
static void *first(void *arg)
{
    one = 1;
    three = 1;
    turn = 1;
    two = 1;
    return NULL;
}
static void *second(void *arg)
{
    one = 2;
    two = 2;
    if (turn == 1)
        three = 2;
    return NULL;
}
"""


def candidates(program: Program) -> tuple[Candidate, ...]:
    answer = MODULAR.run(program, Question(Options()))
    return (*answer.open, *(Candidate(f.location, *f.accesses) for f in answer.findings))


def test_every_location_is_settled(tmp_path: Path) -> None:
    program = load(tmp_path, PROGRAM + TWO_THREADS)
    asked = candidates(program)
    answer = ENGINE.run(program, Question(Options(), asked))
    assert answer.outcome is Outcome.RACE
    found = {finding.location.name for finding in answer.findings}
    assert found == {"one", "two"}
    assert {candidate.location.name for candidate in answer.open} <= {"three"}


def test_one_race_is_enough_if_asked_so(tmp_path: Path) -> None:
    program = load(tmp_path, PROGRAM + TWO_THREADS)
    answer = ENGINE.run(program, Question(Options(stop_at_first=True), candidates(program)))
    assert len(answer.findings) == 1


def test_a_candidate_that_no_schedule_reaches_is_refuted(tmp_path: Path) -> None:
    program = load(tmp_path, PROGRAM + TWO_THREADS)
    asked = tuple(c for c in candidates(program) if c.location.name == "three")
    assert asked
    answer = ENGINE.run(program, Question(Options(), asked))
    assert answer.outcome is Outcome.RACE_FREE
    assert "candidates" in answer.detail
