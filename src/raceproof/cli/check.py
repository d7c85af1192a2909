"""``raceproof check``: one program, one verdict."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from raceproof.cli.arguments import add_program_arguments, read_options
from raceproof.cli.engine_arguments import add_budget_arguments, add_engine_arguments
from raceproof.cli.progress import shown_progress
from raceproof.cli.report_arguments import add_report_arguments
from raceproof.errors import UserError
from raceproof.options import Options

if TYPE_CHECKING:
    from raceproof.ir import Program
    from raceproof.verdict import Verdict

FAILED = 2
INTERRUPTED = 130

EPILOG = """\
examples:
  raceproof check bank.c
  raceproof check main.c queue.c -I include -D WORKERS=4 -std=c11
  raceproof check -p build/compile_commands.json --target server
  raceproof check driver.c --model our-locks.toml --format json -o verdict.json
  raceproof check bank.c --format html -o report.html

exit codes:
  0  no finding that is at least as sure as --fail-on says
  1  findings
  2  the program could not be analysed (it does not compile, no engine had time enough), or
     raceproof is at fault
130  interrupted (Ctrl-C, SIGTERM) before there was a finding; the best answer is printed
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_program_arguments(parser)
    _add_verdict_arguments(parser)
    add_report_arguments(parser)
    add_budget_arguments(parser)
    add_engine_arguments(parser)


def _add_verdict_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("verdict")
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
        "--schedules",
        dest="schedules",
        type=Path,
        metavar="DIR",
        help="write the schedule of each confirmed race to a file in DIR",
    )


def run(arguments: Namespace) -> int:
    from raceproof import api, pipeline
    from raceproof.cli.outcome import check_outputs, deliver

    options = read_options(arguments)
    check_outputs(options)
    with shown_progress(options) as progress:
        found = api.examine(arguments.files, options, progress)
    code = deliver(found.verdict, found.program, options)
    if options.schedules is not None:
        _write_schedules(found.verdict, found.program, options, options.schedules)
    if pipeline.was_interrupted(found.verdict):
        return code or INTERRUPTED
    return FAILED if pipeline.has_failed(found.verdict) else code


def _write_schedules(
    verdict: "Verdict", program: "Program", options: Options, folder: Path
) -> None:
    """`race-1.json` for the first confirmed finding, and so on."""
    from raceproof.concurrency import Models
    from raceproof.machine.machine import Machine
    from raceproof.machine.recording import record
    from raceproof.machine.schedule import to_json, write_schedule

    schedules = [finding.schedule for finding in verdict.findings if finding.schedule]
    machine = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, schedule in enumerate(schedules, 1):
            rules = options.mutex_rules
            machine = machine or Machine(program, Models.load(options.models), mutex_rules=rules)
            content = to_json(schedule, program, record(machine, schedule), rules)
            write_schedule(folder / f"race-{number}.json", content)
    except OSError as error:
        raise UserError(f"cannot write schedules to {folder}: {error.strerror}") from error
