"""``raceproof svcomp``: one task of the competition, one verdict line."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from raceproof.cli.arguments import positive_number
from raceproof.cli.choices import choice_of
from raceproof.errors import UserError
from raceproof.options import DataModel, MemoryModel, Options

EPILOG = """\
The last line is the verdict: true, false(no-data-race) or unknown.

examples:
  raceproof svcomp --property no-data-race.prp --data-model ILP32 task.i
  raceproof svcomp --witness witness.yml --witness witness.graphml task.i
"""

_VERDICTS = {"race": "false(no-data-race)", "race-free": "true", "unknown": "unknown"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="TASK", help="the program")
    parser.add_argument(
        "--property",
        type=Path,
        metavar="FILE",
        help="the property file; only no-data-race is known (default: no-data-race)",
    )
    parser.add_argument(
        "--data-model",
        dest="data_model",
        type=choice_of(DataModel),
        default=DataModel.ILP32,
        metavar="MODEL",
        help="ILP32 or LP64 (default: ILP32)",
    )
    parser.add_argument(
        "--witness",
        dest="witnesses",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="write a witness, as GraphML 1.0 if FILE ends in .graphml, else as YAML 2.x "
        "(repeatable)",
    )
    parser.add_argument(
        "--timeout",
        type=positive_number,
        default=850.0,
        metavar="SECONDS",
        help="say what is known after this time (default: 850)",
    )
    parser.add_argument(
        "--memory", type=positive_number, metavar="GIB", help="memory for each engine"
    )
    parser.add_argument("--engine", default="auto", metavar="NAME", help="this engine alone")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of random choices")


def run(arguments: Namespace) -> int:
    if arguments.property is not None:
        _check_property(arguments.property)

    from raceproof import pipeline
    from raceproof.concurrency.loading import load_program
    from raceproof.report.witness import write_witness

    options = Options(
        data_model=arguments.data_model,
        timeout=arguments.timeout,
        memory=arguments.memory,
        engine=arguments.engine,
        seed=arguments.seed,
        stop_at_first=True,
        memory_model=MemoryModel.SC,
    )
    program = load_program(arguments.files, options)
    verdict = pipeline.check(program, options)
    for engine in verdict.engines:
        print(f"{engine.name}: {engine.answer} ({engine.seconds:.2f} s)")
    for notice in verdict.notices:
        print(f"notice: {notice}")
    for path in arguments.witnesses:
        try:
            if write_witness(path, verdict, program):
                print(f"witness: {path}")
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}") from error
    print(f"verdict: {_VERDICTS[verdict.outcome.value]}")
    return 0


def _check_property(path: Path) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read the property {path}: {error.strerror}") from error
    if "data-race" not in text:
        raise UserError(f"{path} is not the property no-data-race, the only one known")
