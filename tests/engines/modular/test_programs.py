"""The engine on every test program, with each strategy.

`decided.txt` names the programs that the engine must decide by itself; whoever makes it decide more
adds them there.
"""

from functools import cache
from pathlib import Path

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import Options, Strategy
from raceproof.verdict import Answer, Confidence, Outcome
from tests.programs_index import TestProgram, programs

DECIDED = Path(__file__).with_name("decided.txt").read_text(encoding="utf-8").split()


@cache
def loaded(path: Path) -> Program:
    return load_program([path], Options())


def answers(program: TestProgram) -> dict[Strategy, Answer]:
    found = loaded(program.path)
    return {
        strategy: ENGINE.run(found, Question(Options(strategy=strategy))) for strategy in Strategy
    }


def marked_lines(answer: Answer) -> set[int]:
    return {
        access.position.line
        for finding in answer.findings
        for pair in (finding.accesses, *finding.others)
        for access in pair
        if access.position is not None
    }


@pytest.mark.parametrize("program", programs(), ids=str)
def test_is_never_wrong(program: TestProgram) -> None:
    """The most common reason to fail here: a wrong claim that the program is free of races."""
    by_strategy = answers(program)
    for strategy, answer in by_strategy.items():
        decided = {Outcome.RACE: "race", Outcome.RACE_FREE: "race-free"}.get(answer.outcome)
        assert decided in (None, program.verdict), strategy
    assert by_strategy[Strategy.UNDER].outcome is not Outcome.RACE_FREE
    assert by_strategy[Strategy.OVER].outcome is not Outcome.RACE
    over, combined = by_strategy[Strategy.OVER], by_strategy[Strategy.COMBINED]
    assert {f.location for f in over.findings} == {f.location for f in combined.findings}
    if str(program) in DECIDED:
        assert combined.outcome is not Outcome.UNKNOWN


@pytest.mark.parametrize("program", [p for p in programs() if p.race_lines], ids=str)
def test_over_misses_no_race(program: TestProgram) -> None:
    """Every racing location is among the findings: some access of it is on a marked line."""
    found = loaded(program.path)
    answer = ENGINE.run(found, Question(Options(strategy=Strategy.OVER, all_pairs=True)))
    blind = any(text.startswith("not followed") for text in answer.assumptions)
    assert blind or program.race_lines & marked_lines(answer)
    assert all(finding.confidence is Confidence.POSSIBLE for finding in answer.findings)


def test_the_list_names_programs() -> None:
    assert set(DECIDED) <= {str(program) for program in programs()}
    assert sorted(DECIDED) == DECIDED
