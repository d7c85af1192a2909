"""The value backend in its coarse way: it may say less, but nothing wrong."""

import pytest

from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.thread_modular import Analysis
from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options
from raceproof.verdict import Answer, Outcome
from tests.programs_index import TestProgram, programs

EVERY = 5


def coarse_answer(program: TestProgram, monkeypatch: pytest.MonkeyPatch) -> Answer:
    """As if the first, fine way had taken too long."""
    run = Analysis.run

    def hasty(self: Analysis) -> None:
        if not self.is_coarse:
            raise OutOfBudget
        run(self)

    monkeypatch.setattr(Analysis, "run", hasty)
    options = Options()
    return ENGINE.run(load_program([program.path], options), Question(options))


@pytest.mark.parametrize("program", programs()[::EVERY], ids=str)
def test_is_never_wrong(program: TestProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = coarse_answer(program, monkeypatch)
    decided = {Outcome.RACE: "race", Outcome.RACE_FREE: "race-free"}.get(answer.outcome)
    assert decided in (None, program.verdict)
    assert any("apart no more" in notice for notice in answer.notices)


def test_decides_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs begin with the simplest."""
    outcomes = {coarse_answer(program, monkeypatch).outcome for program in programs()[:12]}
    assert {Outcome.RACE, Outcome.RACE_FREE} <= outcomes
