"""The engine over all programs of a project, and their answers as one verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from raceproof.engines.summary.engine import analyse as analyse_units
from raceproof.engines.summary.traces import Known
from raceproof.engines.summary.unit import Unit
from raceproof.options import Options
from raceproof.project.linking import link
from raceproof.project.places import places_of
from raceproof.project.public import declared_in, public_headers
from raceproof.project.sources import ProjectTarget
from raceproof.project.store import Store
from raceproof.time_limit import TimeIsUp, time_limit
from raceproof.verdict import Answer, EngineRun, Finding, Outcome, Verdict

ENGINE = "summary"
_MOST_TRACES = 24
"""Of one function body: rounds of a recursion, states of its callees in the last runs."""


class Summaries:
    """Those of earlier runs, and of the programs of this one: programs of a project share code.

    What is new is written when the store commits.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: dict[bytes, list[Known]] = {}

    def find(self, body: bytes) -> list[Known]:
        found = self._found.get(body)
        if found is None:
            found = self._found[body] = self._store.get_all("summaries", body)
        return found[-_MOST_TRACES:]

    def keep(self, body: bytes, known: Known) -> None:
        self.find(body)
        self._found[body].append(known)
        self._store.add("summaries", body, known)


def analyse(
    records: Sequence[tuple[Any, ...]],
    files: Sequence[tuple[str, ...]],
    targets: Sequence[ProjectTarget],
    is_linked: bool,
    root: Path,
    options: Options,
    store: Store,
    progress: Callable[[str, int, int], None],
) -> tuple[Verdict, dict[tuple[str, str], tuple[int, int]], int, bool]:
    """The verdict over all programs, the lines of the functions it speaks of, how many summaries
    had to be made, and whether there was time for all.

    `files` are those that the compiler read for each unit.
    """
    started = time.monotonic()
    units = [Unit.from_tuple(record) for record in records]
    memory = Summaries(store)

    def entries_of(numbers: Iterable[int]) -> set[str]:
        return declared_in(public_headers((f for n in numbers for f in files[n]), root))

    programs = link(units, targets, options.entry, is_linked, entries_of)
    notices = [notice for program in programs for notice in program.notices]
    deadline = None if options.timeout is None else started + options.timeout
    answers = []
    composed = 0
    unfinished = []
    for left, program in enumerate(programs, -len(programs)):
        try:
            with time_limit(_seconds(deadline, -left)):
                answer, made = analyse_units(
                    program.units,
                    program.entry,
                    {},
                    memory,
                    options.jobs or os.cpu_count() or 1,
                    lambda done, total: progress("summarizing", done, total),
                )
        except TimeIsUp:
            unfinished.append(program.name or "the library")
            continue
        answers.append(answer)
        composed += made
    if unfinished:
        shown = ", ".join(unfinished[:4])
        more = f" and {len(unfinished) - 4} more" if len(unfinished) > 4 else ""
        notices.append(f"no time left for {shown}{more}: not part of the verdict")
    verdict = replace(_merged(answers, time.monotonic() - started), notices=tuple(notices))
    return verdict, _spans(verdict, units, root), composed, not unfinished


def _seconds(deadline: float | None, left: int) -> float | None:
    """For the next program: half of what is left, and all of it for the last."""
    if deadline is None:
        return None
    return (deadline - time.monotonic()) / min(left, 2)


def _merged(answers: Sequence[Answer], seconds: float) -> Verdict:
    """Programs of one project share code: what several of them find is said once."""
    race = any(answer.outcome is Outcome.RACE for answer in answers)
    findings: dict[Any, Finding] = {}
    for answer in answers:
        for finding in answer.findings:
            key = (finding.location, *((a.function, a.position) for a in finding.accesses))
            known = findings.get(key)
            if known is None or known.confidence < finding.confidence:
                findings[key] = finding
    outcome = Outcome.RACE if race else Outcome.UNKNOWN
    detail = f"{len(answers)} programs" if len(answers) != 1 else answers[0].detail
    run = EngineRun(ENGINE, str(outcome), seconds, detail)
    return Verdict(
        outcome,
        tuple(sorted(findings.values(), key=lambda finding: -finding.confidence)),
        _unique(one for answer in answers for one in answer.protections),
        _unique(one for answer in answers for one in answer.assumptions),
        (run,),
        _unique(one for answer in answers for one in answer.threads),
        _unique(one for answer in answers for one in answer.shared),
        seconds,
    )


def _unique(items: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(items))


def _spans(
    verdict: Verdict, units: Sequence[Unit], root: Path
) -> dict[tuple[str, str], tuple[int, int]]:
    """(file, function) -> first and last line, for the functions that findings speak of."""
    wanted = {place for finding in verdict.findings for place in places_of(finding)}
    entries = {access.thread.entry for f in verdict.findings for access in f.accesses}
    found: dict[tuple[str, str], tuple[int, int]] = {}
    texts: dict[Path, list[str]] = {}
    for unit in units:
        for outline in unit.outlines.values():
            place = (outline.file, outline.display)
            if place in wanted or outline.display in entries:
                lines = [line for line, _, file in outline.places.values() if file == outline.file]
                last = max([outline.line, *lines])
                found[place] = (outline.line, _closing(texts, root / outline.file, last))
    return found


def _closing(texts: dict[Path, list[str]], file: Path, line: int) -> int:
    """The line of the brace that ends a function of which `line` is the last one known to us."""
    if file not in texts:
        try:
            texts[file] = file.read_text("utf-8", "replace").splitlines()
        except OSError:
            texts[file] = []
    for number, text in enumerate(texts[file][line - 1 :], line):
        if text.startswith("}"):
            return number
    return line
