"""The cheap backends on our test programs: never wrong, whatever they cannot tell."""

import pytest

from raceproof.engines.modular import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import BackendChoice, Options, Strategy
from raceproof.verdict import Answer, Outcome
from tests.programs_index import TestProgram, programs

RACY = [program for program in programs() if program.verdict == "race"]
SAFE = [program for program in programs() if program.verdict == "race-free"]


def answer(program: TestProgram, **chosen: object) -> Answer:
    options = Options(**chosen)  # type: ignore[arg-type]
    return ENGINE.run(load_program([program.path], options), Question(options))


@pytest.mark.parametrize("program", RACY, ids=str)
def test_alias_never_calls_a_racy_program_race_free(program: TestProgram) -> None:
    assert answer(program, backend=BackendChoice.ALIAS).outcome is not Outcome.RACE_FREE


@pytest.mark.parametrize("program", SAFE[::3], ids=str)
def test_alias_finds_no_sure_race_in_a_safe_program(program: TestProgram) -> None:
    assert answer(program, backend=BackendChoice.ALIAS).outcome is not Outcome.RACE


@pytest.mark.parametrize("program", RACY[::8] + SAFE[::8], ids=str)
def test_syntactic_proves_nothing(program: TestProgram) -> None:
    outcome = answer(program, backend=BackendChoice.SYNTACTIC).outcome
    assert outcome is not Outcome.RACE_FREE
    assert outcome is Outcome.UNKNOWN or program.verdict == "race"


def test_alias_proves_and_finds() -> None:
    by_name = {str(program): program for program in programs()}
    racy, safe = by_name["locks/02-counter-unlocked"], by_name["locks/01-counter-locked"]
    assert answer(racy, backend=BackendChoice.ALIAS).outcome is Outcome.RACE
    assert answer(safe, backend=BackendChoice.ALIAS).outcome is Outcome.RACE_FREE
    under = answer(safe, backend=BackendChoice.ALIAS, strategy=Strategy.UNDER)
    assert under.outcome is Outcome.UNKNOWN
    over = answer(racy, backend=BackendChoice.ALIAS, strategy=Strategy.OVER)
    assert over.outcome is Outcome.UNKNOWN
    assert over.findings
