"""``main``: from the command line to an exit code.

0 nothing to report, 1 findings, 2 could not analyse (a mistake of the user, or of ours), 130
interrupted, 141 nobody reads our output any more.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Collection, Sequence

from raceproof import __version__
from raceproof.cli.registry import COMMANDS, load
from raceproof.errors import UserError

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

exit codes: 0 nothing to report, 1 findings, 2 could not analyse
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (by default that of the process); returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
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
    except Exception as error:
        from raceproof.cli.bug import describe

        print(describe(error, words, with_traceback=verbose), file=sys.stderr)
        return FAILED


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
    parser = ArgumentParser(
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
