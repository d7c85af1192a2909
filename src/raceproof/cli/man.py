"""``raceproof man``: the manual page, made from the commands and options themselves."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from raceproof.cli.registry import COMMANDS
from raceproof.version import __version__

EPILOG = """\
examples:
  raceproof man > ~/.local/share/man/man1/raceproof.1
  raceproof man | man -l -
"""


def add_arguments(parser: ArgumentParser) -> None:
    del parser  # it has none


def run(arguments: Namespace) -> int:
    del arguments
    from raceproof.cli.shell import build_parser

    parser, commands = build_parser(COMMANDS)
    print("\n".join(page(parser, commands)))
    return 0


def page(parser: ArgumentParser, commands: dict[str, ArgumentParser]) -> Iterator[str]:
    """Lines of roff."""
    yield f'.TH RACEPROOF 1 "" "raceproof {__version__}" "User Commands"'
    yield ".SH NAME"
    yield "raceproof \\- find data races in C and C++ programs, and prove their absence"
    yield ".SH SYNOPSIS"
    yield ".B raceproof"
    yield "COMMAND [OPTION...] [FILE...]"
    yield ".SH DESCRIPTION"
    yield _plain(parser.description or "")
    yield ".SH COMMANDS"
    for name, help_text in COMMANDS.items():
        yield from (".TP", f".B {_plain(name)}", _plain(help_text))
    for name, command in commands.items():
        yield f'.SH "RACEPROOF {name.upper()}"'
        yield _plain(command.description or "")
        yield from _options(command)
        yield from (".PP", ".nf", *map(_plain, (command.epilog or "").splitlines()), ".fi")
    yield ".SH EXIT STATUS"
    yield "0 nothing to report, 1 findings, 2 could not analyse, 130 interrupted, 141 broken pipe."


def _options(command: ArgumentParser) -> Iterator[str]:
    formatter = command._get_formatter()
    for action in command._actions:
        if action.help == argparse.SUPPRESS:
            continue
        name = ", ".join(action.option_strings)
        if not action.option_strings or action.nargs != 0:
            value = formatter._format_args(action, str(action.metavar or action.dest))
            name = f"{name} {value}".strip()
        yield from (".TP", f".B {_plain(name)}", _plain((action.help or "").replace("%%", "%")))


def _plain(text: str) -> str:
    """Roff takes a line that begins with a dot or a quote for a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
