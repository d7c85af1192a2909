"""``raceproof scan``: a whole project, again and again."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from raceproof.cli.arguments import (
    add_program_arguments,
    positive_integer,
    positive_number,
    read_options,
)
from raceproof.cli.native_arguments import add_native_arguments, native_settings, say, show_native
from raceproof.cli.progress import shown_progress
from raceproof.cli.report_arguments import add_report_arguments
from raceproof.options import ReportFormat

if TYPE_CHECKING:
    from raceproof.ir import Program
    from raceproof.native.sanitizer import SeenRace
    from raceproof.options import Options
    from raceproof.project import Project, ScanReport
    from raceproof.verdict import Verdict

TAKES_COMMAND = True
EPILOG = """\
examples:
  raceproof scan                                    the project here, as its build compiles it
  raceproof scan src --exclude third_party          all C and C++ files below a folder
  raceproof scan -p build/compile_commands.json --jobs 8
  raceproof scan --changed-since origin/main        only what the branch touches
  raceproof scan --timeout 120                      end after about two minutes
  raceproof scan --refine                           have the findings confirmed or refuted
  raceproof scan --confirm -- make check            see them in the real programs
  raceproof scan --write-baseline known.json        from now on only what is new:
  raceproof scan --baseline known.json

A second run looks only at what has changed; what is known is kept in .raceproof/.

exit codes:
  0  no finding that is at least as sure as --fail-on says
  1  findings
  2  nothing could be analysed, or raceproof is at fault
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_program_arguments(
        parser,
        "PATH",
        "folders, or C, C++ or LLVM files (default: the build database found here, else this "
        "folder)",
    )
    _add_project_arguments(parser)
    add_report_arguments(parser)


def _add_project_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("project")
    group.add_argument(
        "--exclude",
        dest="exclude",
        action="append",
        metavar="PATTERN",
        help="leave out folders and files that match, as third_party or 'src/legacy/*' "
        "(repeatable)",
    )
    group.add_argument(
        "--changed-since",
        dest="changed_since",
        metavar="REV",
        help="report only findings in functions that differ from this Git revision",
    )
    group.add_argument(
        "--jobs",
        dest="jobs",
        type=positive_integer,
        metavar="N",
        help="use N processes (default: one for each core)",
    )
    group.add_argument(
        "--refine",
        dest="refine",
        action="store_true",
        help="have the findings confirmed or refuted by other engines, if the files make one "
        "program",
    )
    group.add_argument(
        "--timeout",
        dest="timeout",
        type=positive_number,
        metavar="SECONDS",
        help="leave out programs that take longer (default: no limit; for --refine: 60)",
    )
    group.add_argument(
        "--confirm",
        dest="confirm",
        action="store_true",
        help="build the programs with ThreadSanitizer, RUN them (by the command behind --, as "
        "`make check`, in a copy of the project), and look for the findings",
    )
    add_native_arguments(parser)
    cache = group.add_mutually_exclusive_group()
    cache.add_argument(
        "--cache",
        dest="cache",
        type=Path,
        metavar="DIR",
        help="remember in DIR what was found out (default: .raceproof in the project)",
    )
    cache.add_argument(
        "--no-cache", dest="no_cache", action="store_true", help="remember nothing, start afresh"
    )


def run(arguments: Namespace) -> int:
    from raceproof.cli.outcome import check_outputs, deliver
    from raceproof.project import find_project, scan
    from raceproof.project.places import relocated
    from raceproof.project.store import FOLDER

    options = read_options(arguments)
    check_outputs(options)
    project = find_project(arguments.files, options)
    cache = None if options.no_cache else options.cache or project.root / FOLDER
    changed = None
    if options.changed_since is not None:
        from raceproof.project.changes import changed_lines

        changed = changed_lines(project, options.changed_since)
    from raceproof.cli.scan_progress import shown_bar

    with shown_bar(options) as progress:
        found = scan(project, options, cache, progress)
    verdict = found.verdict
    if changed is not None:
        from raceproof.project.changes import touched

        verdict = touched(verdict, changed, found.spans)
    program = None
    if options.refine:
        from raceproof.project.refining import refined

        with shown_progress(options) as working:
            verdict, program = refined(verdict, project, found.files, options, working)
    unknown: tuple[SeenRace, ...] = ()
    if getattr(arguments, "confirm", False):
        verdict, unknown = _confirmed(arguments, verdict, project, options)
    if options.verbosity > 0:
        print(_work(found), file=sys.stderr)
    if project.root != Path.cwd():
        verdict = relocated(verdict, project.shown)
    code = deliver(verdict, program or _program(project, found, options), options)
    if getattr(arguments, "confirm", False) and options.format in (None, ReportFormat.TEXT):
        show_native(verdict.findings, unknown)
    return code


def _confirmed(
    arguments: Namespace, verdict: Verdict, project: Project, options: Options
) -> tuple[Verdict, tuple[SeenRace, ...]]:
    import tempfile

    from raceproof.project.confirming import confirmed

    command = list(getattr(arguments, "command", None) or [])
    with tempfile.TemporaryDirectory(prefix="raceproof-native-") as scratch:
        folder = Path(scratch)
        settings = native_settings(arguments, options)
        return confirmed(verdict, project, options, command, folder, settings, say)


def _work(found: ScanReport) -> str:
    """What this run had to do itself."""
    remembered = ", all of it known before" if found.is_remembered else ""
    return (
        f"{len(found.files)} files, {found.compiled} compiled, "
        f"{found.composed} summaries made{remembered}"
    )


@dataclass(frozen=True, slots=True)
class _Scanned:
    """What reports ask of a program, if no finding has a schedule; there is no program here."""

    files: tuple[str, ...]
    data_model: str


def _program(project: Project, found: ScanReport, options: Options) -> Program:
    files = tuple(project.shown(file) for file in found.files)
    return cast("Program", _Scanned(files, options.data_model.value))
