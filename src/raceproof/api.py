"""``raceproof.check``: what the command ``raceproof check`` does, as a function.

It returns the same verdict that the command reports; findings that comments, settings or a baseline
silence carry `suppressed_by`. Nothing is printed. What the user can mend raises
:class:`~raceproof.errors.UserError`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.errors import UserError
from raceproof.options import Options
from raceproof.time_limit import TimeIsUp, time_limit

if TYPE_CHECKING:
    from raceproof.ir import Program
    from raceproof.verdict import Verdict

Progress = Callable[[str, float], None]
"""Told what is at work and its seconds so far, a few times a second."""
Name = str | os.PathLike[str]
_LEAST = 0.01


@dataclass(frozen=True, slots=True)
class Checked:
    program: Program
    verdict: Verdict


def check(
    files: Name | Iterable[Name] = (),
    options: Options | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """One program, one verdict.

    `files` are the C, C++ or LLVM files of one program; none: the program of the build database
    that `options` names. `options` has the options of the command line under the same names, with
    underscores (`fail_on`, `include_dirs`); no configuration file is read. `progress` is told what
    is at work.
    """
    from raceproof.report.suppressed import marked

    listed = [files] if isinstance(files, str | os.PathLike) else list(files)
    options = options or Options()
    found = examine([Path(file) for file in listed], options, progress)
    return marked(found.verdict, found.program, options)


def examine(files: list[Path], options: Options, progress: Progress | None = None) -> Checked:
    """The verdict before anything is suppressed. `options.timeout` counts from here to the end."""
    from raceproof import pipeline

    started = time.monotonic()
    program = load(files, options, progress)
    left = remaining(options, started)
    verdict = pipeline.check(program, left, progress)
    return Checked(program, replace(verdict, seconds=time.monotonic() - started))


def load(files: list[Path], options: Options, progress: Progress | None = None) -> Program:
    """The program, compiled and linked within `options.timeout`; its comments are checked."""
    from raceproof.concurrency.loading import load_program
    from raceproof.report.source import Sources
    from raceproof.report.suppression import check_comments

    what = f"compiling {files[0].name}" if len(files) == 1 else "compiling"

    def tick(seconds: float) -> None:
        if progress is not None:
            progress(what, seconds)

    tick(0.0)
    try:
        with time_limit(options.timeout, None if progress is None else tick):
            program = load_program(files, options)
    except TimeIsUp:
        raise UserError(
            f"compiling took longer than the {options.timeout:g} s of --timeout; give it more time"
        ) from None
    check_comments(program.files, Sources(program))
    return program


def remaining(options: Options, started: float) -> Options:
    """The options with the time that is left of `timeout` since `started`."""
    if options.timeout is None:
        return options
    left = options.timeout - (time.monotonic() - started)
    return replace(options, timeout=max(left, _LEAST))
