"""``raceproof replay``: run a schedule again and show the interleaving."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from raceproof.cli.arguments import add_program_arguments, read_options
from raceproof.cli.choices import choice_of
from raceproof.cli.output import output_stream
from raceproof.options import ReportFormat

EPILOG = """\
examples:
  raceproof check bank.c --schedules schedules
  raceproof replay schedules/race-1.json bank.c
  raceproof replay schedules/race-1.json bank.c --format json -o interleaving.json

Compile with the same options as for the check. docs/schedules.md describes the file.

exit codes:
  0  the schedule ends with the two accesses enabled at once
  1  it does not
  2  the schedule or the program cannot be read, or they do not belong together
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "schedule", type=Path, metavar="SCHEDULE", help="a file that check --schedules wrote"
    )
    add_program_arguments(parser)
    parser.add_argument_group("interleaving").add_argument(
        "--format",
        dest="format",
        type=choice_of(ReportFormat),
        choices=[ReportFormat.TEXT, ReportFormat.JSON],
        help="how to write the interleaving (default: text)",
    )


def run(arguments: Namespace) -> int:
    from raceproof.cli.interleaving_table import write_json, write_table
    from raceproof.concurrency import Models
    from raceproof.concurrency.loading import load_program
    from raceproof.machine.machine import Machine
    from raceproof.machine.recording import record
    from raceproof.machine.schedule import check_program, read_schedule

    options = read_options(arguments)
    if not hasattr(arguments, "format"):
        options = replace(options, format=ReportFormat.TEXT)
    file = read_schedule(arguments.schedule)
    program = load_program(arguments.files, options)
    check_program(arguments.schedule, file, program)
    machine = Machine(program, Models.load(options.models), mutex_rules=file.mutex_rules)
    recording = record(machine, file.schedule)
    with output_stream(options) as stream:
        if options.format is ReportFormat.JSON:
            write_json(recording, stream)
        else:
            write_table(recording, program, options, stream)
    return 0 if recording.replayed.reached else 1
