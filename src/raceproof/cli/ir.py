"""``raceproof ir``: the program model, to read."""

from argparse import ArgumentParser, Namespace

from raceproof.cli.arguments import add_program_arguments, read_options
from raceproof.cli.output import output_stream

EPILOG = """\
examples:
  raceproof ir bank.c
  raceproof ir main.c queue.c -I include -o program.txt
  raceproof ir -p build/compile_commands.json --target server
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_program_arguments(parser)


def run(arguments: Namespace) -> int:
    from raceproof.frontend import load_program
    from raceproof.ir.printer import print_program

    options = read_options(arguments)
    program = load_program(arguments.files, options)
    with output_stream(options) as stream:
        print_program(program, stream)
    return 0
