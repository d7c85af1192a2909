"""``raceproof check``: one program, one verdict."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from raceproof.cli.arguments import (
    DEFAULTS,
    add_program_arguments,
    positive_integer,
    positive_number,
    read_options,
)
from raceproof.cli.output import output_stream
from raceproof.options import FailOn, ReportFormat

EPILOG = """\
examples:
  raceproof check bank.c
  raceproof check main.c queue.c -I include -D WORKERS=4 -std=c11
  raceproof check -p build/compile_commands.json --target server
  raceproof check driver.c --model our-locks.toml --format json -o verdict.json

exit codes:
  0  no finding that is at least as sure as --fail-on says
  1  findings
  2  the program could not be analysed
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_program_arguments(parser)
    _add_verdict_arguments(parser)
    _add_budget_arguments(parser)


def _add_verdict_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("verdict")
    group.add_argument(
        "--engine",
        dest="engine",
        metavar="NAME",
        help=f"decide with this engine alone (default: {DEFAULTS.engine}, the cheapest first)",
    )
    group.add_argument(
        "--first",
        dest="stop_at_first",
        action="store_true",
        help="stop at the first confirmed race (default: try to confirm every candidate)",
    )
    group.add_argument(
        "--cross-check",
        dest="cross_check",
        action="store_true",
        help="ask every engine about the whole program, and compare what they say",
    )
    group.add_argument(
        "--explain-pipeline",
        dest="explain_pipeline",
        action="store_true",
        help="tell which engine decided what, and how long it took",
    )
    group.add_argument(
        "--format",
        dest="format",
        type=ReportFormat,
        choices=list(ReportFormat),
        help=f"how to write the verdict (default: {DEFAULTS.format})",
    )
    group.add_argument(
        "--fail-on",
        dest="fail_on",
        type=FailOn,
        choices=list(FailOn),
        help="end with exit code 1 if a finding is at least this sure: a schedule that ends in "
        "the race was replayed (confirmed), all we can check speaks for a race (likely), or "
        f"nothing rules it out (possible) (default: {DEFAULTS.fail_on})",
    )
    group.add_argument(
        "--schedules",
        dest="schedules",
        type=Path,
        metavar="DIR",
        help="write the schedule of each confirmed race to a file in DIR",
    )


def _add_budget_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("budget")
    group.add_argument(
        "--timeout",
        dest="timeout",
        type=positive_number,
        metavar="SECONDS",
        help="give the best answer known after this time (default: no limit)",
    )
    group.add_argument(
        "--memory",
        dest="memory",
        type=positive_number,
        metavar="GIB",
        help="use at most this much memory (default: no limit)",
    )
    group.add_argument(
        "--jobs",
        dest="jobs",
        type=positive_integer,
        metavar="N",
        help="use N processes (default: as many as there are processors)",
    )
    group.add_argument(
        "--seed",
        dest="seed",
        type=int,
        metavar="N",
        help=f"where random choices start; the same seed, the same run (default: {DEFAULTS.seed})",
    )


def run(arguments: Namespace) -> int:
    from raceproof import pipeline, report
    from raceproof.frontend import load_program
    from raceproof.verdict import Confidence

    options = read_options(arguments)
    program = load_program(arguments.files, options)
    verdict = pipeline.check(program, options)
    with output_stream(options) as stream:
        report.write(verdict, program, options, stream)
    least = Confidence[options.fail_on.name]
    return int(any(finding.confidence >= least for finding in verdict.findings))
