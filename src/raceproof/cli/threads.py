"""``raceproof threads``: who creates whom, where, and who runs beside whom."""

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

EPILOG = """\
A thread is known by the places of its creation, from main on. It is listed as "several at once" if
more than one of it may run at a time. Joins are listed where it is sure which thread is waited for.

examples:
  raceproof threads bank.c
  raceproof threads bank.c --format dot | dot -Tsvg > threads.svg
  raceproof threads server.c --format json --backend alias

exit codes:
  0  listed
  2  the program could not be analysed
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_program_arguments(parser)
    group = parser.add_argument_group("threads")
    group.add_argument(
        "--format",
        dest="listing",
        choices=["text", "dot", "json"],
        default="text",
        help="how to write the graph; dot is for Graphviz (default: text)",
    )
    add_backend_argument(group)
    add_context_argument(group)
    add_time_argument(group)


def run(arguments: Namespace) -> int:
    from raceproof.api import load, remaining
    from raceproof.cli import thread_listing
    from raceproof.engines.modular.creation import creation_graph
    from raceproof.engines.modular.look import look

    options = read_options(arguments)
    with shown_progress(options) as progress:
        started = time.monotonic()
        program = load(arguments.files, options, progress)
        if progress is not None:
            progress("analysing threads and locks", 0.0)
        seen = look(program, remaining(options, started))
    nodes = creation_graph(seen.analysis, options.latest_calls)
    with output_stream(options) as stream:
        match arguments.listing:
            case "dot":
                thread_listing.write_dot(nodes, stream)
            case "json":
                thread_listing.write_json(nodes, stream)
            case _:
                thread_listing.write_text(nodes, stream)
                for notice in seen.notices:
                    stream.write(f"Notice: {notice}\n")
    return 0
