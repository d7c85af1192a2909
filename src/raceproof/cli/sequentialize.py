"""``raceproof sequentialize``: the program as sequential C, for verifiers and compilers."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from raceproof.cli.arguments import DEFAULTS, add_program_arguments, positive_integer, read_options
from raceproof.cli.output import output_stream
from raceproof.errors import UserError
from raceproof.options import DEFAULT_THREADS

EPILOG = """\
The printed program is plain C11 without threads. Its one assertion can fail if and only if the
original has a data race within the bounds. Nondeterminism comes from __VERIFIER_nondet_*().

examples:
  raceproof sequentialize bank.c -o bank.seq.c --unwind 4 --rounds 3
  cbmc bank.seq.c                                    let a sequential verifier look for the race
  cc -DRACEPROOF_RUN bank.seq.c -o bank.seq          or try it out:
  ./bank.seq seed 1 100000                           random schedules and inputs
  raceproof sequentialize bank.c -o bank.seq.c --follow bank.schedule.json
  ./bank.seq follow bank.seq.c.follow                a schedule that raceproof found
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_program_arguments(parser)
    group = parser.add_argument_group("bounds")
    group.add_argument(
        "--unwind",
        dest="unwind",
        type=positive_integer,
        metavar="N",
        help="follow loops and recursion N times; a loop that counts between constants is "
        f"followed to its end (default: {DEFAULTS.unwind})",
    )
    group.add_argument(
        "--rounds",
        dest="rounds",
        type=positive_integer,
        metavar="N",
        help="let every thread run N times, in the order of their creation "
        f"(default: {DEFAULTS.rounds})",
    )
    group.add_argument(
        "--threads",
        dest="threads",
        type=positive_integer,
        metavar="N",
        help=f"create at most N threads besides main (default: {DEFAULT_THREADS})",
    )
    group.add_argument(
        "--follow",
        dest="follow",
        type=Path,
        metavar="SCHEDULE",
        help="choose rounds and threads for this schedule, and write what the compiled program "
        "needs to follow it to the output's name with .follow",
    )


def run(arguments: Namespace) -> int:
    from raceproof.concurrency import Models
    from raceproof.concurrency.loading import load_program
    from raceproof.options import MutexRules
    from raceproof.sequentialize import Bounds, sequentialize

    options = read_options(arguments)
    schedule = getattr(arguments, "follow", None)
    if schedule is not None and options.output is None:
        raise UserError("--follow needs -o FILE: the directions are written beside it")
    program = load_program(arguments.files, options)
    models = Models.load(options.models)
    rounds, threads = options.rounds, options.threads or DEFAULT_THREADS
    rules = options.mutex_rules
    directions = None
    if schedule is not None:
        from raceproof.machine.schedule import check_program, read_schedule
        from raceproof.sequentialize.follow import directions as find_directions

        file = read_schedule(schedule)
        check_program(schedule, file, program)
        if file.schedule.is_past:
            raise UserError(
                f"{schedule} ends at accesses that happens-before does not order, and the printed "
                "program looks for accesses at once: nothing to follow"
            )
        rules = file.mutex_rules
        directions = find_directions(program, models, file.schedule, rules)
        rounds, threads = directions.rounds, max(directions.threads - 1, 1)
    bounds = Bounds(
        unwind=options.unwind,
        rounds=rounds,
        threads=threads,
        anyone_unlocks=rules is MutexRules.LINUX,
    )
    text = sequentialize(program, models, bounds)
    with output_stream(options) as stream:
        stream.write(text)
    if directions is not None and options.output is not None:
        path = options.output.with_name(options.output.name + ".follow")
        try:
            path.write_text(directions.text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}") from error
    return 0
