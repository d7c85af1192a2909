"""Large programs: `alias` names the candidates, values may only take some away."""

import time
from functools import cache
from pathlib import Path

import pytest

from raceproof.analysis import facts
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.thread_modular import Analysis
from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import Options
from raceproof.pipeline import check
from raceproof.verdict import Answer, Outcome
from tests.lowering import lower
from tests.programs_index import TestProgram, programs

THREADS = """
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
extern int which(void);
int a[8], x;
"""
HALVES = """
void *work(void *p) { for (int i = 4; i < 8; i++) a[i] = 1; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    for (int i = 0; i < 4; i++) a[i] = 2;
    %s
    return 0;
}
"""
C_PROGRAMS = [p for p in programs() if p.path.suffix == ".c"]


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "SMALL_PROGRAM", 0)


@cache
def loaded(path: Path) -> Program:
    return load_program([path], Options())


def answer(text: str) -> Answer:
    question = Question(Options(), deadline=time.monotonic() + 60)
    return ENGINE.run(lower(THREADS + text), question)


def test_values_take_candidates_away() -> None:
    assert answer(HALVES % "").outcome is Outcome.RACE_FREE


def test_what_neither_excludes_is_left() -> None:
    found = answer(HALVES % "a[5] = 0;")
    assert found.outcome is not Outcome.RACE_FREE
    assert {f.location.name.partition("[")[0] for f in found.findings} == {"a"}


def test_out_of_time_alias_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def burst(_: Analysis) -> None:
        raise OutOfBudget

    monkeypatch.setattr(Analysis, "run", burst)
    found = answer(HALVES % "")
    assert found.outcome is not Outcome.RACE_FREE
    assert "values take too long" in found.notices[0]


@pytest.mark.parametrize(
    ("lost", "is_proved"),
    [
        ("a write through a pointer that may point anywhere", False),
        ("a call through a pointer that may point anywhere", False),
        ("a read through a pointer that may point anywhere", True),
    ],
)
def test_values_that_lost_track_exclude_nothing(
    monkeypatch: pytest.MonkeyPatch, lost: str, is_proved: bool
) -> None:
    """After a write or a call that may go anywhere they know nothing."""
    run = Analysis.run

    def lose_track(analysis: Analysis) -> None:
        run(analysis)
        analysis.threads.main.records.not_followed(lost, 0)

    monkeypatch.setattr(Analysis, "run", lose_track)
    assert (answer(HALVES % "").outcome is Outcome.RACE_FREE) == is_proved


@pytest.mark.parametrize("program", C_PROGRAMS, ids=str)
def test_never_wrong(program: TestProgram) -> None:
    question = Question(Options(all_pairs=True), deadline=time.monotonic() + 60)
    found = ENGINE.run(loaded(program.path), question)
    decided = {Outcome.RACE: "race", Outcome.RACE_FREE: "race-free"}.get(found.outcome)
    assert decided in (None, program.verdict)
    lines = {
        access.position.line
        for finding in found.findings
        for pair in (finding.accesses, *finding.others)
        for access in pair
        if access.position is not None
    }
    if not any(a.startswith("not ") for a in found.assumptions):
        assert program.race_lines <= lines


def test_the_pipeline_leaves_out_engines_for_small_programs() -> None:
    text = THREADS + "void *work(void *p) { if (which()) x++; return 0; }"
    text += "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); return x; }"
    verdict = check(lower(text), Options())
    assert {run.name for run in verdict.engines} <= {"modular", "interleave"}
    assert verdict.outcome is not Outcome.RACE_FREE
