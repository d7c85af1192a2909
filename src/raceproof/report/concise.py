"""A line for each access, as compilers write their warnings: for Vim, Emacs, reviewdog, grep.

bank.c:50:19: error: data race on bank.transfers: both hold a lock, ... [different-locks]
bank.c:50:19: note: the other access: write in count_transfer
"""

from __future__ import annotations

from typing import TextIO

from raceproof.ir import Program
from raceproof.options import Options
from raceproof.report import words
from raceproof.report.rules import why
from raceproof.report.source import Sources
from raceproof.report.suppression import suppression_of
from raceproof.verdict import Confidence, Finding, Verdict

_LEVELS = {
    Confidence.CONFIRMED: "error",
    Confidence.LIKELY: "warning",
    Confidence.POSSIBLE: "warning",
}


def write(verdict: Verdict, program: Program, options: Options, stream: TextIO) -> None:
    sources = Sources(program)
    for finding in verdict.findings:
        if suppression_of(finding, sources) is None:
            stream.write(_lines(finding, sources))
    if options.verbosity >= 0:
        stream.write(words.summary(verdict) + "\n")


def _lines(finding: Finding, sources: Sources) -> str:
    first, second = finding.accesses
    if first.position is None and second.position is not None:
        first, second = second, first
    reason = why(finding, sources)
    level = _LEVELS[finding.confidence]
    return (
        f"{words.place(first.position)}: {level}: {finding.confidence} data race on "
        f"{finding.location.name}: {reason.sentence} [{reason.rule.id}]\n"
        f"{words.place(second.position)}: note: the other access: {words.kind(second)} in "
        f"{second.function} by {words.runs(second)}, holding {words.locks(second.locks)}\n"
    )
