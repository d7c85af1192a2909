"""What to do next: for each question that people have at the end of a report, one command.

Told once, under all findings; `-q` leaves them out.
"""

from __future__ import annotations

from collections.abc import Sequence

from raceproof.ir.names import without_origin
from raceproof.report.paths import shown
from raceproof.verdict import BaseKind, Outcome, Verdict

_WIDTH = 78
_FILES = "FILE..."
"""In place of file names that are too long to be repeated."""


def hints(verdict: Verdict, files: Sequence[str]) -> list[tuple[str, str]]:
    """Question and command, in lines of the same indentation."""
    named = " ".join(shown(file) for file in files)
    found = _hints(verdict, named or _FILES)
    if any(len(question) + len(command) > _WIDTH for question, command in found):
        found = _hints(verdict, _FILES)
    return found


def _hints(verdict: Verdict, program: str) -> list[tuple[str, str]]:
    counting = [finding for finding in verdict.findings if finding.suppressed_by is None]
    found: list[tuple[str, str]] = []
    if counting:
        first = counting[0]
        name = without_origin(first.location.name)
        quoted = f"'{name}'" if set(name) & set("[]*<> ") else name
        if first.location.kind is not BaseKind.EXTERNAL:
            found.append(("What protects it?", f"raceproof explain {program} --location {quoted}"))
        if any(finding.schedule is not None for finding in counting):
            found.append(("Step by step?", f"raceproof check {program} --schedules DIR"))
            found.append(("", f"raceproof replay DIR/race-1.json {program}"))
        found.append(("Silence it?", f"// raceproof: ignore[{name}] REASON, at the access"))
    elif verdict.outcome is Outcome.UNKNOWN:
        found.append(("Why unknown?", f"raceproof check {program} --explain-pipeline -v"))
    width = max((len(question) for question, _ in found), default=0)
    return [(f"{question:<{width}}", command) for question, command in found]
