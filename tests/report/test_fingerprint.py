"""One name and one fingerprint for a location, whichever engine or command found the race."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace

import pytest

from raceproof.concurrency.loading import load_program
from raceproof.options import Options
from raceproof.pipeline import check, known_engines
from raceproof.project import find_project, scan
from raceproof.report.fingerprint import fingerprint
from raceproof.verdict import Finding
from tests.programs_index import TestProgram, programs

RACY = [p for p in programs() if p.verdict == "race" and not p.unbounded]
SAMPLE = RACY if os.environ.get("RACEPROOF_ALL_PROGRAMS") else RACY[::16]
"""All of them take about a quarter of an hour: RACEPROOF_ALL_PROGRAMS=1 asks for it."""
_SECONDS = 5.0


@pytest.mark.parametrize("program", SAMPLE, ids=str)
def test_engines_and_commands_agree(program: TestProgram) -> None:
    """For the same two lines of the source, read or write: the same name, but for lines in it and
    elements of arrays, and the same fingerprint."""
    loaded = load_program([program.path], Options())
    said: dict[object, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for engine in ("auto", *known_engines()):
        verdict = check(loaded, Options(engine=engine, timeout=_SECONDS))
        for finding in verdict.findings:
            _note(finding, engine, said)
    project = find_project([program.path], Options())
    found = scan(project, Options(no_cache=True), None, lambda what, done, total: None)
    for finding in found.verdict.findings:
        _note(finding, "scan", said)
    assert said
    for place, by_fingerprint in said.items():
        assert len(by_fingerprint) == 1, (place, dict(by_fingerprint))


def _note(finding: Finding, who: str, said: dict[object, dict[str, list[str]]]) -> None:
    for pair in (finding.accesses, *finding.others):
        told = replace(finding, accesses=pair)
        lines = frozenset(
            (access.position.line if access.position else 0, access.is_write) for access in pair
        )
        said[lines][fingerprint(told)].append(f"{who}: {finding.location.name}")
