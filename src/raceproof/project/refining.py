"""Findings of a scan, put to the engines that decide: `raceproof scan --refine`.

The summaries of a project know no whole program, so it is compiled once more and linked. The engine
`summary` names the same findings there, now with instructions that can be run; the engines
`interleave` and `bounded` look for a schedule of each, or for a proof that there is none.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from raceproof.engines.question import Question
from raceproof.engines.summary import SummaryEngine
from raceproof.errors import UserError
from raceproof.frontend import Selection, load_selection
from raceproof.ir import Position, Program
from raceproof.options import Options
from raceproof.pipeline import Progress
from raceproof.pipeline import refine as decide
from raceproof.project.places import Value, relocated
from raceproof.project.sources import Project
from raceproof.verdict import Access, Candidate, Confidence, Finding, Outcome, Verdict

DEFAULT_TIMEOUT = 60.0
"""Seconds, if the user names no limit."""

Key: TypeAlias = frozenset[Position | None]
"""A pair of accesses, by where they are in the source."""


def refined(
    verdict: Verdict,
    project: Project,
    files: Collection[str],
    options: Options,
    progress: Progress | None = None,
) -> tuple[Verdict, Program | None]:
    """The verdict with its findings confirmed, dropped or left as they are; and the program.

    `files` are those that could be analysed. No program: nothing was refined, a notice says why.
    """
    if not verdict.findings:
        return verdict, None
    if progress is not None:
        progress("compiling", 0.0)
    sources = [source for source in project.sources if project.name(source.path) in files]
    try:
        program = load_selection(Selection(tuple(sources), is_build=True), options)
    except UserError as error:
        reason = str(error).partition("\n")[0]
        notice = f"nothing was refined, because the files make no program: {reason}"
        return replace(verdict, notices=(*verdict.notices, notice)), None
    wanted = {_key(*pair) for f in verdict.findings for pair in (f.accesses, *f.others)}
    answer = SummaryEngine().run(program, Question(options))
    named = [f for f in answer.findings if _located(f, project) in wanted]
    asked = replace(
        answer,
        findings=tuple(named),
        open=tuple(c for c in answer.open if _located(c, project) in wanted),
    )
    limited = replace(options, engine="auto", timeout=options.timeout or DEFAULT_TIMEOUT)
    decided = decide(program, SummaryEngine.name, asked, limited, progress)
    return _merged(verdict, named, decided, project), program


def _merged(verdict: Verdict, named: list[Finding], decided: Verdict, project: Project) -> Verdict:
    by_key = {_located(finding, project): finding for finding in named}
    findings = []
    confirmed = dropped = 0
    for finding in verdict.findings:
        asked = by_key.get(_key(*finding.accesses))
        if asked is None:
            findings.append(finding)
            continue
        found = next((one for one in decided.findings if _is_same(one, asked)), None)
        if found is None:
            dropped += 1
        elif found.confidence is Confidence.CONFIRMED:
            confirmed += 1
            findings.append(_renamed(found, project))
        else:
            findings.append(finding)
    findings.sort(key=lambda finding: -finding.confidence)
    is_race = any(finding.confidence >= Confidence.LIKELY for finding in findings)
    left = len(findings) - confirmed
    told = f"refined: {confirmed} confirmed, {dropped} refuted, {left} left as found"
    return replace(
        verdict,
        outcome=Outcome.RACE if is_race else Outcome.UNKNOWN,
        findings=tuple(findings),
        engines=(*verdict.engines, *decided.engines),
        seconds=verdict.seconds + decided.seconds,
        notices=(*verdict.notices, *decided.notices, told),
    )


def _located(one: Finding | Candidate, project: Project) -> Key:
    pair = one.accesses if isinstance(one, Finding) else (one.first, one.second)
    return _key(*(_renamed(access, project) for access in pair))


def _renamed(value: Value, project: Project) -> Value:
    """The compiler names files as seen from where we are; a scan does as seen from the root."""
    return relocated(value, lambda file: project.name(Path.cwd() / file))


def _key(first: Access, second: Access) -> Key:
    return frozenset((first.position, second.position))


def _is_same(one: Finding, other: Finding) -> bool:
    """The same location, or the same two instructions."""
    if one.location == other.location:
        return True
    return {a.instruction for a in one.accesses} == {a.instruction for a in other.accesses}
