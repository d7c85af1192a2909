"""``main``: from the command line to an exit code.

0 nothing to report, 1 findings, 2 could not analyse (a mistake of the user, or of ours), 130
interrupted, 141 nobody reads our output any more.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Collection, Sequence
from typing import NoReturn

from raceproof.cli.registry import COMMANDS, load
from raceproof.errors import UserError, did_you_mean
from raceproof.version import __version__

FAILED = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

_DESCRIPTION = "Finds data races in multithreaded C and C++ programs without running them."
_EPILOG = """\
examples:
  raceproof check main.c                     one program of one file
  raceproof check main.c queue.c -I include  one program of several files
  raceproof check -p compile_commands.json   one program, as its build compiles it
  raceproof check --help                     all options of a command

questions:
  why is this a race?      raceproof explain FILE... --location NAME
  what protects x?         raceproof explain FILE... --location x
  how do I silence it?     // raceproof: ignore[NAME] REASON, at the access; --write-baseline
  why unknown?             raceproof check FILE... --explain-pipeline -v
  how do I reproduce it?   raceproof check FILE... --schedules DIR, then
                           raceproof replay DIR/race-1.json FILE...
  does it work here?       raceproof doctor

exit codes: 0 nothing to report, 1 findings, 2 could not analyse
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (by default that of the process); returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        _prepare_process()
    verbose = False
    try:
        name, arguments = parse(words)
        verbose = getattr(arguments, "verbosity", 0) > 0
        code = load(name).run(arguments)
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"raceproof: error: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("raceproof: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes standard output once more when it ends; let that succeed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"raceproof: error: {where}{error.strerror or error}", file=sys.stderr)
        return FAILED
    except MemoryError:
        print("raceproof: error: not enough memory", file=sys.stderr)
        return FAILED
    except Exception as error:
        from raceproof.cli.bug import describe

        print(describe(error, words, with_traceback=verbose), file=sys.stderr)
        return FAILED


def _prepare_process() -> None:
    """Who ends us politely gets the best answer so far, as with Ctrl-C; what a terminal cannot show
    is shown escaped."""
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


class _Parser(ArgumentParser):
    """Tells a mistake in one line, with the option that may be meant."""

    def error(self, message: str) -> NoReturn:
        known = [option for action in self._actions for option in action.option_strings]
        asked = message.split()[-1].partition("=")[0] if message.startswith("unrec") else ""
        if "invalid choice" in message and "COMMAND" in message:
            message, asked = message.partition(" (choose")[0], message.split("'")[1]
            known = list(COMMANDS)
        elif "invalid choice" in message:
            head, _, listed = message.partition(" (choose from ")
            asked, known = head.split("'")[1], re.findall(r"[\w-]+", listed)
            message = f"{head}; choose from {', '.join(known)}"
        hint = did_you_mean(asked, known)
        self.exit(FAILED, f"{self.prog}: error: {message}{hint} ({self.prog} --help)\n")


def parse(words: Sequence[str]) -> tuple[str, Namespace]:
    """The command that the words name, and its arguments.

    Ends the process as argparse does: after ``--help`` and ``--version``, and with exit code 2 on
    words that make no sense.
    """
    name = words[0] if words and words[0] in COMMANDS else None
    parser, commands = build_parser([name] if name else [])
    if name is None:
        parser.parse_args(words)
        parser.error("a command is needed; raceproof --help lists them")
    own = list(words[1:])
    rest: list[str] = []
    if getattr(load(name), "TAKES_COMMAND", False) and "--" in own:
        at = own.index("--")
        own, rest = own[:at], own[at + 1 :]
    arguments = commands[name].parse_intermixed_args(own)
    arguments.command = rest
    return name, arguments


def build_parser(
    names: Collection[str],
) -> tuple[ArgumentParser, dict[str, ArgumentParser]]:
    """The parser and those of its commands; only the commands in ``names`` know their arguments."""
    parser = _Parser(
        prog="raceproof",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"raceproof {__version__}")
    choices = parser.add_subparsers(title="commands", metavar="COMMAND")
    parsers: dict[str, ArgumentParser] = {}
    for name, help_text in COMMANDS.items():
        if name not in names:
            choices.add_parser(name, help=help_text)
            continue
        command = load(name)
        parsers[name] = choices.add_parser(
            name,
            help=help_text,
            description=f"{help_text[0].upper()}{help_text[1:]}.",
            epilog=command.EPILOG,
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(parsers[name])
    return parser, parsers
