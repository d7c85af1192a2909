"""The C++ programs: the pipeline decides each rightly, at lines that the programs mark."""

from pathlib import Path

import pytest

from raceproof.frontend import load_program
from raceproof.options import Options
from raceproof.pipeline.conduct import check
from raceproof.verdict import Confidence, Outcome
from tests.programs_index import TestProgram, cxx_programs

LEFT_OPEN = {
    "cxx-library/10-string-shared",
    "cxx-threads/05-stop-token",
    "cxx-waiting/01-queue",
}
"""Neither confirmed nor proved."""
QUICK = {
    "cxx-locks/01-scoped-lock-of-three",
    "cxx-locks/03-unique-lock-moved",
    "cxx-locks/07-call-once-lambda",
    "cxx-library/01-map-locked",
    "cxx-library/04-shared-pointer-itself",
    "cxx-threads/03-jthread",
    "cxx-threads/06-member-function-thread",
    "cxx-waiting/03-promise",
    "cxx-waiting/05-async",
    "cxx-waiting/08-barrier-not-waited",
    "cxx-waiting/11-semaphore",
}
"""The others are marked as slow."""


def cases() -> list[object]:
    return [
        pytest.param(p, id=str(p), marks=() if str(p) in QUICK else pytest.mark.slow)
        for p in cxx_programs()
    ]


@pytest.mark.parametrize("program", cases())
def test_is_decided_rightly(program: TestProgram) -> None:
    options = Options(timeout=60.0)
    verdict = check(load_program([program.path], options), options)
    confirmed = [f for f in verdict.findings if f.confidence is Confidence.CONFIRMED]
    if program.verdict == "race-free":
        assert not confirmed
    else:
        assert verdict.outcome is not Outcome.RACE_FREE
    for finding in confirmed:
        lines = {a.position.line for a in finding.accesses if a.position is not None}
        assert lines <= program.race_lines
    if str(program) not in LEFT_OPEN:
        assert bool(confirmed) == (program.verdict == "race")
        assert (verdict.outcome is Outcome.RACE_FREE) == (program.verdict == "race-free")


def test_library_code_is_inlined() -> None:
    program = next(p for p in cxx_programs() if str(p) == "cxx-threads/02-vector-joined")
    loaded = load_program([program.path], Options())
    names = {f.name for f in loaded.defined}
    assert {"main", "_ZL4worki"} <= names
    assert not any("emplace_back" in name for name in names)
    main = loaded.functions["main"]
    files = {Path(i.position.file).name for i in main.instructions if i.position is not None}
    assert files == {"02-vector-joined.cpp"}
