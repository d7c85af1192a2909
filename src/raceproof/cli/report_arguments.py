"""How findings are written down, and which of them count: the same wherever there is a verdict."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from raceproof.cli.arguments import DEFAULTS
from raceproof.cli.choices import choice_of
from raceproof.options import FailOn, ReportFormat


def add_report_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("report")
    group.add_argument(
        "--format",
        dest="format",
        type=choice_of(ReportFormat),
        choices=list(ReportFormat),
        help=f"how to write the verdict (default: {DEFAULTS.format})",
    )
    group.add_argument(
        "--also",
        dest="also",
        action="append",
        type=_format_and_file,
        metavar="FORMAT=FILE",
        help="write the verdict in this format, too, as --also sarif=races.sarif (repeatable)",
    )
    group.add_argument(
        "--fail-on",
        dest="fail_on",
        type=choice_of(FailOn),
        choices=list(FailOn),
        help="end with exit code 1 if a finding is at least this sure: a schedule that ends in "
        "the race was replayed (confirmed), all we can check speaks for a race (likely), or "
        "nothing rules it out (possible), or if there is no proof (unknown) "
        f"(default: {DEFAULTS.fail_on})",
    )
    known = group.add_mutually_exclusive_group()
    known.add_argument(
        "--baseline",
        dest="baseline",
        type=Path,
        metavar="FILE",
        help="leave out the findings that this file knows, as --write-baseline wrote it",
    )
    known.add_argument(
        "--write-baseline",
        dest="write_baseline",
        type=Path,
        metavar="FILE",
        help="write all findings to FILE, for --baseline, and end with exit code 0",
    )


def _format_and_file(text: str) -> tuple[ReportFormat, Path]:
    """An argument type: `html=report.html`."""
    name, sign, file = text.partition("=")
    if not sign or not file or name not in list(ReportFormat):
        words = ", ".join(ReportFormat)
        raise ArgumentTypeError(f"{text!r} is not FORMAT=FILE with a FORMAT of: {words}")
    return ReportFormat(name), Path(file)
