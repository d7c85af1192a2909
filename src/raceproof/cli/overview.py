"""``raceproof overview``: one page about several programs, from the JSON of their checks."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from raceproof.errors import UserError

EPILOG = """\
examples:
  raceproof check server.c --also json=server.json --also html=server.html
  raceproof check client.c --also json=client.json --also html=client.html
  raceproof overview server.json client.json -o index.html

A program is linked to the HTML report that lies beside its JSON under the same name.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "verdicts", nargs="+", type=Path, metavar="FILE", help="what check --format json wrote"
    )
    parser.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="FILE",
        default=None,
        help="write to FILE instead of standard output",
    )


def run(arguments: Namespace) -> int:
    from raceproof.report.overview import Program, page

    output: Path | None = arguments.output
    folder = Path() if output is None else output.parent
    programs = []
    for path in arguments.verdicts:
        try:
            programs.append(Program.read(path, folder))
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: not a verdict, as check --format json writes it") from error
    text = page(programs)
    if output is None:
        sys.stdout.write(text)
        return 0
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {output}: {error.strerror}") from error
    return 0
