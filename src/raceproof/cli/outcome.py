"""From a verdict to reports and an exit code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from raceproof import report
from raceproof.cli.output import output_stream
from raceproof.options import FailOn, Options
from raceproof.report.baseline import read_baseline, write_baseline
from raceproof.report.source import Sources
from raceproof.report.suppression import suppressed
from raceproof.verdict import Confidence, Outcome, Verdict

if TYPE_CHECKING:
    from raceproof.ir import Program


def deliver(verdict: Verdict, program: Program, options: Options) -> int:
    """Sort out what does not count, write all reports; 1 if something counts, else 0."""
    sources = Sources(program)
    known = read_baseline(options.baseline) if options.baseline is not None else {}
    verdict = suppressed(verdict, program.files, sources, options.suppressions, known)
    with output_stream(options) as stream:
        report.write(verdict, program, options, stream)
    for further, path in options.also:
        chosen = replace(options, format=further, output=path)
        with output_stream(chosen) as stream:
            report.write(verdict, program, chosen, stream)
    if options.write_baseline is not None:
        write_baseline(options.write_baseline, verdict)
        return 0
    return int(_counts(verdict, options.fail_on))


def _counts(verdict: Verdict, fail_on: FailOn) -> bool:
    if fail_on is FailOn.UNKNOWN:
        excused = verdict.findings and all(f.excuse is not None for f in verdict.findings)
        return verdict.outcome is not Outcome.RACE_FREE and not excused
    least = Confidence[fail_on.name]
    return any(f.confidence >= least and f.excuse is None for f in verdict.findings)
