"""From a verdict to reports and an exit code."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof import report
from raceproof.cli.output import output_stream
from raceproof.errors import UserError
from raceproof.options import Options, ReportFormat
from raceproof.report.baseline import read_baseline, write_baseline
from raceproof.report.suppressed import counts, marked
from raceproof.verdict import Verdict

if TYPE_CHECKING:
    from raceproof.ir import Program


def check_outputs(options: Options) -> None:
    """Before the work: whether its results can be written, and the baseline be read."""
    if options.baseline is not None:
        read_baseline(options.baseline)
    paths = [options.output, options.write_baseline, *(path for _, path in options.also)]
    for path in paths:
        if path is not None:
            _check_output(path)
    folder = options.schedules
    if folder is not None and folder.exists() and not folder.is_dir():
        raise UserError(f"cannot write schedules to {folder}: not a folder")


def _check_output(path: Path) -> None:
    if path.is_dir():
        raise UserError(f"cannot write {path}: is a folder")
    if not path.parent.is_dir():
        raise UserError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UserError(f"cannot write {path}: no permission")


def deliver(verdict: Verdict, program: Program, options: Options) -> int:
    """Sort out what does not count, write all reports; 1 if something counts, else 0."""
    verdict = marked(verdict, program, options)
    further = [replace(options, format=name, output=path) for name, path in options.also]
    failures = [
        error
        for chosen in (options, *further)
        if (error := _written(verdict, program, chosen)) is not None
    ]
    if options.write_baseline is not None:
        write_baseline(options.write_baseline, verdict)
    if failures:
        raise failures[0]
    if options.write_baseline is not None:
        return 0
    return int(counts(verdict, options.fail_on))


def _written(verdict: Verdict, program: Program, options: Options) -> UserError | None:
    """Writes one report. If its file cannot take it (a full disk), the verdict is told on standard
    output instead: it may have taken long to find."""
    try:
        with output_stream(options) as stream:
            report.write(verdict, program, options, stream)
    except (OSError, UserError) as error:
        if options.output is None:
            raise
        told = replace(options, format=ReportFormat.TEXT, output=None)
        report.write(verdict, program, told, sys.stdout)
        if isinstance(error, UserError):
            return error
        return UserError(f"cannot write {options.output}: {error.strerror or error}")
    return None
