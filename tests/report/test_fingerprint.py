"""One name and one fingerprint for a location, whichever engine or command found the race."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from itertools import combinations

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
    """Who speaks of the same two places of the source, read or write, has a fingerprint in common,
    and so the name but for lines in it and elements of arrays. (One place may access several
    locations.)"""
    loaded = load_program([program.path], Options())
    said: dict[object, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for engine in ("auto", *known_engines()):
        verdict = check(loaded, Options(engine=engine, timeout=_SECONDS))
        for finding in verdict.findings:
            _note(finding, engine, said)
    project = find_project([program.path], Options())
    found = scan(project, Options(no_cache=True), None, lambda what, done, total: None)
    for finding in found.verdict.findings:
        _note(finding, "scan", said)
    assert said
    for place, by_party in said.items():
        for one, other in combinations(by_party.values(), 2):
            assert one.keys() & other.keys(), (place, by_party)


def _note(finding: Finding, who: str, said: dict[object, dict[str, dict[str, str]]]) -> None:
    places = frozenset(
        (access.position.line, access.position.column, access.is_write)
        for access in finding.accesses
        if access.position is not None
    )
    for location in (finding.location, *finding.also):
        said[places][who][fingerprint(replace(finding, location=location))] = location.name
