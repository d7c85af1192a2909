"""``raceproof events``: what is understood as thread, lock and memory operations."""

from argparse import ArgumentParser, Namespace

from raceproof.cli.arguments import add_program_arguments, read_options
from raceproof.cli.output import output_stream

EPILOG = """\
Functions that are neither defined in the program nor known from a model are listed at the end; a
model (--model) tells what they do.

examples:
  raceproof events bank.c
  raceproof events driver.c --model our-locks.toml
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_program_arguments(parser)


def run(arguments: Namespace) -> int:
    from raceproof.cli.event_listing import print_events
    from raceproof.concurrency.accesses import Events
    from raceproof.concurrency.catalogue import Models
    from raceproof.frontend import load_program

    options = read_options(arguments)
    models = Models.load(options.models)
    program = load_program(arguments.files, options)
    with output_stream(options) as stream:
        print_events(program, Events(program, models), stream)
    return 0
