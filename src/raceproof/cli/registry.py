"""The table of commands, light enough to be read at every start.

Only the module of the chosen command is imported, and inside it the floors below only by ``run``,
so that ``--help`` and ``--version`` never load LLVM or the solver.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


class Command(Protocol):
    """What the module ``raceproof.cli.NAME`` of a command offers."""

    EPILOG: str
    """Examples, shown under its help.

    `TAKES_COMMAND = True` beside it: what stands behind `--` is a command line of its own."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what it takes."""

    def run(self, arguments: Namespace) -> int:
        """Do it; returns the exit code."""


COMMANDS = {
    "check": "look for data races in a program, or prove that it has none",
    "replay": "run a schedule that ends in a race, and show it step by step",
    "confirm": "run the program itself under ThreadSanitizer, and lead it to the races found",
    "capture": "run a build, and write down what it compiles and links, for scan and check",
    "targets": "list the programs and libraries of a build",
    "scan": "look for data races in a whole project; a second run looks at what changed only",
    "overview": "make one HTML page about several programs that were checked",
    "explain": "tell what protects each shared location: every access, and every pair",
    "threads": "print who creates whom, where, and who runs beside whom",
    "events": "list what is understood as thread, lock and memory operations, by function",
    "ir": "print the program model, with source lines",
    "sequentialize": "print the program as sequential C with one assertion, for other verifiers",
    "bench": "run a set of tasks with known answers, and tell how well it went",
    "svcomp": "decide one task of the software verification competition",
    "init": "write a commented configuration file",
    "doctor": "look at this machine: what works here, and what to do where something does not",
    "schema": "print the JSON schema of the settings, for editors, or of the JSON report",
    "completion": "print a completion script for your shell",
    "man": "print the manual page",
}
"""Name and one-line help of each command, in the order of ``raceproof --help``."""


def load(name: str) -> Command:
    """The module behind a command's name."""
    module: Command = importlib.import_module(f"raceproof.cli.{name}")
    return module
