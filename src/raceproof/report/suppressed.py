"""A verdict with everything sorted out that the user asked not to count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raceproof.options import FailOn, Options
from raceproof.report.baseline import read_baseline
from raceproof.report.source import Sources
from raceproof.report.suppression import suppressed
from raceproof.verdict import Confidence, Outcome, Verdict

if TYPE_CHECKING:
    from raceproof.ir import Program


def marked(verdict: Verdict, program: Program, options: Options) -> Verdict:
    """Findings marked that comments, settings or the baseline suppress."""
    known = read_baseline(options.baseline) if options.baseline is not None else {}
    return suppressed(verdict, program.files, Sources(program), options.suppressions, known)


def counts(verdict: Verdict, fail_on: FailOn) -> bool:
    """Whether a marked verdict has what the user wants to fail on."""
    if fail_on is FailOn.UNKNOWN:
        is_suppressed = verdict.findings and all(
            f.suppressed_by is not None for f in verdict.findings
        )
        return verdict.outcome is not Outcome.RACE_FREE and not is_suppressed
    least = Confidence[fail_on.name]
    return any(f.confidence >= least and f.suppressed_by is None for f in verdict.findings)
