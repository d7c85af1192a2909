"""The engine on all test programs: it proves none of the racy ones, and most bounded ones are left
to others."""

import pytest

from raceproof.engines.pairwise import ENGINE
from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options
from raceproof.verdict import Outcome
from tests.programs_index import TestProgram, programs


@pytest.mark.parametrize("program", programs(), ids=str)
def test_proves_no_racy_program(program: TestProgram) -> None:
    answer = ENGINE.run(load_program([program.path], Options()), Question(Options()))
    assert not answer.findings
    if program.verdict == "race":
        assert answer.outcome is Outcome.UNKNOWN
        assert answer.detail.startswith("no proof: ")
