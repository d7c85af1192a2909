"""When the value backend has too little time or memory, `alias` answers and says so."""

import time
from pathlib import Path

import pytest

from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.thread_modular import Analysis
from raceproof.engines.modular import engine, look
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import Options
from raceproof.verdict import Answer, Outcome

RACY = Path(__file__).parents[3] / "programs/locks/02-counter-unlocked.c"


def answer(question: Question) -> Answer:
    return engine.ENGINE.run(load_program([RACY], Options()), question)


def test_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def everything(program: Program, left: float) -> float:
        return left

    monkeypatch.setattr(engine, "_reserve", everything)
    found = answer(Question(Options(), deadline=time.monotonic() + 60))
    why = "backend `value` ran out of time, the answer is that of backend `alias`"
    assert found.outcome is Outcome.RACE
    assert found.notices == (why,)
    assert found.detail == why


def test_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def burst(*_: object) -> Answer:
        raise MemoryError

    monkeypatch.setattr(engine, "_answer_by_values", burst)
    found = answer(Question(Options()))
    assert found.outcome is Outcome.RACE
    assert found.notices == (
        "backend `value` ran out of memory, the answer is that of backend `alias`",
    )


def test_nobody_has_time() -> None:
    found = answer(Question(Options(), deadline=time.monotonic() - 1))
    assert found.outcome is Outcome.UNKNOWN
    assert found.notices == ("backend `value` ran out of time, and so did `alias`",)


def test_a_look_falls_back_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def burst(_: object) -> None:
        raise OutOfBudget

    monkeypatch.setattr(Analysis, "run", burst)
    seen = look.look(load_program([RACY], Options()), Options())
    assert seen.notices == ("backend `value` ran out of time or memory, `alias` answers",)
    assert [info.entry for info in seen.analysis.threads.all] == ["main", "worker", "worker"]
