"""Workflow commands that GitHub shows beside the lines of a pull request."""

from __future__ import annotations

from typing import TextIO

from raceproof.ir import Program
from raceproof.options import Options
from raceproof.report import words
from raceproof.report.paths import shown
from raceproof.report.rules import Why, why
from raceproof.report.source import Sources
from raceproof.report.suppression import suppression_of
from raceproof.verdict import Confidence, Finding, Verdict

_COMMANDS = {
    Confidence.CONFIRMED: "error",
    Confidence.LIKELY: "warning",
    Confidence.POSSIBLE: "notice",
}


def write(verdict: Verdict, program: Program, options: Options, stream: TextIO) -> None:
    sources = Sources(program)
    for finding in verdict.findings:
        if suppression_of(finding, sources) is None:
            stream.write(_annotation(finding, why(finding, sources)) + "\n")
    for notice in verdict.notices:
        stream.write(f"::warning title=raceproof::{_text(notice)}\n")
    stream.write(words.summary(verdict) + "\n")


def _annotation(finding: Finding, reason: Why) -> str:
    properties = []
    access = next((one for one in finding.accesses if one.position), finding.accesses[0])
    if access.position is not None:
        properties.append(f"file={_property(shown(access.position.file))}")
        properties.append(f"line={access.position.line}")
        if access.position.column:
            properties.append(f"col={access.position.column}")
    properties.append(f"title={_property(f'{finding.confidence} data race')}")
    lines = [f"Data race on {finding.location.name}: {reason.sentence} [{reason.rule.id}]"]
    for one in finding.accesses:
        lines.append(
            f"{words.kind(one)} in {one.function} at {words.place(one.position)} by "
            f"{words.thread(one.thread)}, holding {words.locks(one.locks)}"
        )
    lines.append(f"To mend it: {reason.suggestion}")
    command = _COMMANDS[finding.confidence]
    return f"::{command} {','.join(properties)}::{_text(chr(10).join(lines))}"


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
