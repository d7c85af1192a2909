"""One name and one fingerprint for a location, whichever engine found the race."""

from __future__ import annotations

import pytest

from raceproof.engines.question import Question
from raceproof.frontend import load_program
from raceproof.options import Options
from raceproof.pipeline import check
from raceproof.pipeline.registry import load_engine
from raceproof.report.fingerprint import fingerprint
from raceproof.verdict import Candidate, Confidence, Finding
from tests.programs_index import TestProgram, programs

GROUPS = {"heap", "structs", "arrays", "wrappers"}
RACY = [p for p in programs() if p.group in GROUPS and p.verdict == "race" and not p.unbounded]


def as_finding(candidate: Candidate) -> Finding:
    pair = (candidate.first, candidate.second)
    return Finding(candidate.location, Confidence.POSSIBLE, pair)


@pytest.mark.parametrize("program", RACY, ids=str)
def test_engines_agree(program: TestProgram) -> None:
    loaded = load_program([program.path], Options())
    verdict = check(loaded, Options(timeout=20))
    answer = load_engine("modular").run(loaded, Question(Options()))
    named = {fingerprint(f) for f in (*answer.findings, *map(as_finding, answer.open))}
    assert {fingerprint(f) for f in verdict.findings} <= named
    by_lines: dict[frozenset[int], set[str]] = {}
    for finding in load_engine("summary").run(loaded, Question(Options())).findings:
        by_lines.setdefault(lines(finding), set()).add(fingerprint(finding))
    for finding in answer.findings:
        if lines(finding) in by_lines:
            assert fingerprint(finding) in by_lines[lines(finding)]


def lines(finding: Finding) -> frozenset[int]:
    return frozenset(a.position.line for a in finding.accesses if a.position is not None)
