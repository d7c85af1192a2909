"""``raceproof capture``: run a build, and write down what it compiled and linked."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

FAILED = 2
TAKES_COMMAND = True

EPILOG = """\
Writes compile_commands.json (which files are compiled how) and link_commands.json (what is linked
from what) into this folder; `raceproof scan`, `check` and `targets` find them there. Works with
any build that finds its compilers in PATH, CC or CXX. What needs no compiling is not seen: clean
up first. A second capture adds to the first.

examples:
  raceproof capture -- make -j8
  raceproof capture -- sh -c './configure && make'
  raceproof capture -- sh -c 'cmake -S . -B build && cmake --build build'

exit codes: that of the build; 2 if nothing was compiled
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--folder",
        dest="folder",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="write to DIR (default: here)",
    )


def run(arguments: Namespace) -> int:
    from raceproof.errors import UserError
    from raceproof.frontend.builds.capture import capture

    command = arguments.command
    if not command:
        raise UserError("name the build behind `--`, as in: raceproof capture -- make")
    if not arguments.folder.is_dir():
        raise UserError(f"--folder {arguments.folder}: there is no such folder")
    found = capture(command, arguments.folder)
    if not found.compiled:
        print(
            "raceproof: the build compiled nothing that was seen: clean up first if all was up to "
            "date; a build that names its compilers by absolute path (as CMake does in a folder "
            "that was set up before) must be set up again under `raceproof capture`",
            file=sys.stderr,
        )
        return found.code or FAILED
    print(
        f"{found.database}: {_count(found.compiled, 'compilation')}, {_count(found.linked, 'link')}"
        + (f" ({found.total} entries in all)" if found.total != found.compiled else ""),
        file=sys.stderr,
    )
    if found.code:
        print(f"raceproof: the build failed (exit code {found.code})", file=sys.stderr)
    return found.code


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
