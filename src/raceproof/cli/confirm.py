"""``raceproof confirm``: see the found races in the real program, under ThreadSanitizer."""

from __future__ import annotations

import shlex
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.cli.arguments import add_program_arguments, read_options
from raceproof.cli.engine_arguments import add_budget_arguments, add_engine_arguments
from raceproof.cli.progress import shown_progress
from raceproof.cli.report_arguments import add_report_arguments
from raceproof.options import ReportFormat

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.native.confirm import Confirmed, Settings
    from raceproof.options import Options

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
    group = parser.add_argument_group("native runs")
    group.add_argument(
        "--runs", type=int, metavar="N", help="runs with noise for each finding (default: 5)"
    )
    group.add_argument(
        "--run-timeout", type=float, metavar="SECONDS", help="for each run (default: 20)"
    )
    group.add_argument("--run-memory", type=float, metavar="GIB", help="for each run (default: 8)")
    group.add_argument(
        "--most", type=int, metavar="N", help="try the first N findings only (default: 20)"
    )
    group.add_argument("--cwd", type=Path, metavar="DIR", help="run the program in this folder")
    group.add_argument(
        "--sanitizer-cc",
        metavar="CC",
        help="a C or C++ compiler whose ThreadSanitizer is linked instead of the bundled one",
    )
    group.add_argument(
        "--link-arg",
        dest="link_args",
        action="append",
        metavar="ARG",
        help="for the linker, e.g. --link-arg=-levent",
    )


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
        module = read_module(select(arguments.files, options), options)
        builder = Builder(
            module,
            program,
            options,
            folder,
            sanitizer_cc=getattr(arguments, "sanitizer_cc", None),
            link_args=getattr(arguments, "link_args", None) or (),
        )
        command = _command(given)
        confirmation = Confirmation(
            builder, machine, folder, cwd, command, _settings(arguments, options), _say
        )
        _say(f"will run: {shlex.join(command(Path('PROGRAM')))}")
        done = confirmation.confirm(verdict)
    deliver(done.verdict, program, options)
    if options.format in (None, ReportFormat.TEXT):
        _summary(done)
    is_seen = done.unknown or any(f.native and f.native.is_confirmed for f in done.verdict.findings)
    return 1 if is_seen else 0


def _settings(arguments: Namespace, options: Options) -> Settings:
    from raceproof.native.confirm import Settings
    from raceproof.native.execution import Limits

    def given(name: str, default: float) -> float:
        value = getattr(arguments, name, None)
        return default if value is None else value

    limits = Limits(seconds=given("run_timeout", 20.0), memory=given("run_memory", 8.0))
    return Settings(
        runs=int(given("runs", 5)), seed=options.seed, most=int(given("most", 20)), limits=limits
    )


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


def _say(text: str) -> None:
    sys.stderr.write(f"raceproof: {text}\n")


def _summary(done: Confirmed) -> None:
    tried = [(finding, finding.native) for finding in done.verdict.findings if finding.native]
    if tried:
        print("\nIn the program itself, under ThreadSanitizer:")
    for finding, native in tried:
        word = "confirmed natively" if native.is_confirmed else "not seen"
        runs = f"{native.runs} run{'' if native.runs == 1 else 's'}, {native.seconds:.1f} s"
        why = f": {native.detail}" if native.detail else ""
        print(f"  {finding.location.name}: {word} ({native.way}, {runs}){why}")
    for race in done.unknown:
        places = " and ".join(race.places) or "(no position)"
        named = f" on {race.variable}" if race.variable else ""
        print(
            f"  ThreadSanitizer also saw a {race.kind}{named} at {places}: not among the findings"
        )
    if not tried and not done.unknown:
        print("\nThreadSanitizer saw no race in a run of the program.")
