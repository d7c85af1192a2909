"""``raceproof confirm``: see the found races in the real program, under ThreadSanitizer."""

from __future__ import annotations

import shlex
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.cli.arguments import add_program_arguments, read_options
from raceproof.cli.engine_arguments import add_budget_arguments, add_engine_arguments
from raceproof.cli.native_arguments import add_native_arguments, native_settings, say, show_native
from raceproof.cli.progress import shown_progress
from raceproof.cli.report_arguments import add_report_arguments
from raceproof.options import ReportFormat

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

TAKES_COMMAND = True
EPILOG = """\
examples:
  raceproof confirm bank.c
  raceproof confirm server.c --runs 20 -- --port 8080 config.ini
  raceproof confirm -p build --target pigz -- sh -c '{} -k -p 4 < input'

The program is built with the bundled compiler and ThreadSanitizer, and RUN, in a temporary folder
(--cwd for another one). Behind -- stand its arguments, or a command with {} for its path. A
confirmed race is looked for by its schedule, the others by letting threads wait for each other.

exit codes:
  0  ThreadSanitizer has seen no race
  1  it has seen one
  2  the program cannot be checked, built or started
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_program_arguments(parser)
    add_engine_arguments(parser)
    add_budget_arguments(parser)
    add_report_arguments(parser)
    group = add_native_arguments(parser)
    group.add_argument("--cwd", type=Path, metavar="DIR", help="run the program in this folder")


def run(arguments: Namespace) -> int:
    from raceproof import pipeline
    from raceproof.cli.outcome import deliver
    from raceproof.concurrency import Models
    from raceproof.concurrency.loading import load_program
    from raceproof.frontend.selection import select
    from raceproof.machine.machine import Machine
    from raceproof.native.build import Builder, read_module
    from raceproof.native.confirm import Confirmation

    options = read_options(arguments)
    program = load_program(arguments.files, options)
    with shown_progress(options) as progress:
        verdict = pipeline.check(program, options, progress)
    given = list(getattr(arguments, "command", None) or [])
    made: list[Machine] = []

    def machine() -> Machine:
        if not made:
            rules = options.mutex_rules
            made.append(Machine(program, Models.load(options.models), mutex_rules=rules))
        return made[0]

    with tempfile.TemporaryDirectory(prefix="raceproof-native-") as scratch:
        folder = Path(scratch)
        cwd = getattr(arguments, "cwd", None) or folder
        settings = native_settings(arguments, options)
        selection = select(arguments.files, options)
        builder = Builder(
            read_module(selection, options),
            program,
            options,
            folder,
            sanitizer_cc=settings.sanitizer_cc,
            link_args=(*selection.outside, *settings.link_args),
        )
        command = _command(given)
        confirmation = Confirmation(builder, machine, folder, cwd, command, settings, say)
        say(f"will run: {shlex.join(command(Path('PROGRAM')))}")
        done = confirmation.confirm(verdict)
    deliver(done.verdict, program, options)
    if options.format in (None, ReportFormat.TEXT):
        show_native(done.verdict.findings, done.unknown)
    is_seen = done.unknown or any(f.native and f.native.is_confirmed for f in done.verdict.findings)
    return 1 if is_seen else 0


def _command(given: Sequence[str]) -> Callable[[Path], list[str]]:
    """The words behind `--`: a command with `{}` in it, else arguments of the program."""
    words = [str(Path(word).resolve()) if _is_file(word) else word for word in given]

    def made(binary: Path) -> list[str]:
        if any("{}" in word for word in words):
            return [word.replace("{}", str(binary)) for word in words]
        return [str(binary), *words]

    return made


def _is_file(word: str) -> bool:
    """It runs in another folder: what is a file here must be found from there."""
    return "/" not in word[:1] and not word.startswith("-") and Path(word).exists()
