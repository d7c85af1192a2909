"""``raceproof explain``: what protects each shared location, and what does not."""

import time
from argparse import ArgumentParser, Namespace

from raceproof.cli.arguments import add_program_arguments, read_options
from raceproof.cli.engine_arguments import (
    add_backend_argument,
    add_context_argument,
    add_time_argument,
)
from raceproof.cli.output import output_stream
from raceproof.cli.progress import shown_progress
from raceproof.errors import UserError

EPILOG = """\
Without --location: the locations that more than one thread accesses, with their protection. With
it: every access to that location (place, thread, locks, calls), and for each pair of them the
reason why they cannot race, or that there is none, and then what is missing to call it a likely
race. NAME is as the list has it, or one member of it.

examples:
  raceproof explain bank.c
  raceproof explain bank.c --location bank
  raceproof explain bank.c --location bank.transfers --format json

exit codes:
  0  explained
  2  the program could not be analysed, or has no such shared location
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_program_arguments(parser)
    group = parser.add_argument_group("explanation")
    group.add_argument(
        "--location",
        dest="location",
        metavar="NAME",
        default=None,
        help="explain this location in full, as bank.total",
    )
    group.add_argument(
        "--format",
        dest="listing",
        choices=["text", "json"],
        default="text",
        help="how to write it (default: text)",
    )
    add_backend_argument(group)
    add_context_argument(group)
    add_time_argument(group)


def run(arguments: Namespace) -> int:
    from raceproof.api import load, remaining
    from raceproof.cli import explanation_listing
    from raceproof.engines.modular.explanation import explain
    from raceproof.engines.modular.look import look

    options = read_options(arguments)
    with shown_progress(options) as progress:
        started = time.monotonic()
        program = load(arguments.files, options, progress)
        if progress is not None:
            progress("analysing threads and locks", 0.0)
        seen = look(program, remaining(options, started))
    found = explain(seen, options.latest_calls, arguments.location)
    if arguments.location is not None and not found:
        known = sorted({one.location.name for one in explain(seen, options.latest_calls)})
        listed = ", ".join(known[:20]) or "there is none"
        raise UserError(f"no shared location {arguments.location!r}; shared are: {listed}")
    with output_stream(options) as stream:
        if arguments.listing == "json":
            explanation_listing.write_json(found, stream)
        elif arguments.location is None:
            explanation_listing.write_list(found, stream)
        else:
            for one in found:
                explanation_listing.write_full(one, stream)
        if arguments.listing == "text":
            for notice in seen.notices:
                stream.write(f"Notice: {notice}\n")
    return 0
