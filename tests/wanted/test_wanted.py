"""Hostile programs about the edges of the C library: the pipeline gives a wanted verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raceproof.frontend import load_program
from raceproof.options import DataModel, Options
from raceproof.pipeline import check
from raceproof.verdict import Confidence, Outcome

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.c*"))
_WORDS = {Outcome.RACE: "race", Outcome.RACE_FREE: "race-free", Outcome.UNKNOWN: "unknown"}


def wanted_of(text: str) -> set[str]:
    found = re.match(r"// want: ([- a-z]+)\n// \S", text)
    assert found is not None, "the program starts with its wanted verdicts and what it is about"
    return set(found[1].split())


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_verdict_is_wanted(path: Path) -> None:
    text = path.read_text("utf-8")
    model = DataModel.ILP32 if "// options: --data-model ilp32" in text else DataModel.LP64
    options = Options(data_model=model, timeout=2.0)
    verdict = check(load_program([path], options), options)
    assert _WORDS[verdict.outcome] in wanted_of(text)
    if "race" not in wanted_of(text):
        assert all(finding.confidence is Confidence.POSSIBLE for finding in verdict.findings)
    assert not any("crash" in notice for notice in verdict.notices)
