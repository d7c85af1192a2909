"""How the engines look at a program, and what they may spend: the same options wherever engines
run."""

from argparse import ArgumentParser, ArgumentTypeError, _ArgumentGroup

from raceproof.cli.arguments import DEFAULTS, positive_integer, positive_number
from raceproof.cli.choices import choice_of
from raceproof.options import DEFAULT_THREADS, BackendChoice, MemoryModel, MutexRules, Strategy


def whole_number(text: str) -> int:
    """An argument type: 0, 1, 2, ..."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def add_engine_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        dest="engine",
        metavar="NAME",
        help="decide with this engine alone: modular, summary, interleave, pairwise or bounded "
        f"(default: {DEFAULTS.engine}, the cheapest first)",
    )
    parser.add_argument(
        "--memory-model",
        dest="memory_model",
        type=choice_of(MemoryModel),
        metavar="NAME",
        help="call accesses a race that happens-before does not order (c11), or only those that "
        f"can happen at once in a sequentially consistent execution (sc) (default: "
        f"{DEFAULTS.memory_model})",
    )
    _add_modular_arguments(parser)
    _add_exploring_arguments(parser)


def add_backend_argument(group: _ArgumentGroup) -> None:
    group.add_argument(
        "--backend",
        dest="backend",
        type=choice_of(BackendChoice),
        metavar="NAME",
        help=f"stand on this analysis of single threads: {', '.join(BackendChoice)} "
        f"(default: {DEFAULTS.backend})",
    )


def add_context_argument(group: _ArgumentGroup) -> None:
    group.add_argument(
        "--context-depth",
        dest="context_depth",
        type=whole_number,
        metavar="N",
        help="tell calls of a function apart by their last N callers; fewer is faster and less "
        "precise (default: by all of them, with the cheaper backends by "
        f"{DEFAULTS.latest_calls})",
    )


def add_time_argument(group: _ArgumentGroup) -> None:
    group.add_argument(
        "--timeout",
        dest="timeout",
        type=positive_number,
        metavar="SECONDS",
        help="give up after this time; cheaper backends answer before (default: 300)",
    )


def _add_modular_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("engine modular")
    add_backend_argument(group)
    group.add_argument(
        "--strategy",
        dest="strategy",
        type=choice_of(Strategy),
        metavar="NAME",
        help="what a thread sees of the others' writes: nothing (under), everything that may "
        f"happen (over), or one after the other (combined) (default: {DEFAULTS.strategy})",
    )
    add_context_argument(group)
    group.add_argument(
        "--unroll",
        dest="unroll",
        type=whole_number,
        metavar="N",
        help=f"keep the first N rounds of a loop apart (default: {DEFAULTS.unroll})",
    )
    group.add_argument(
        "--all-pairs",
        dest="all_pairs",
        action="store_true",
        help="report every racing pair of a location, not only the best",
    )


def _add_exploring_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("engines interleave and bounded")
    group.add_argument(
        "--threads",
        dest="threads",
        type=positive_integer,
        metavar="N",
        help="create at most N threads at one place (default: "
        f"{DEFAULT_THREADS} in the threading model of interleave, as many as fit for bounded)",
    )
    group.add_argument(
        "--unwind",
        dest="unwind",
        type=positive_integer,
        metavar="N",
        help=f"follow loops for N rounds (bounded) (default: {DEFAULTS.unwind})",
    )
    group.add_argument(
        "--unwind-loop",
        dest="unwind_loops",
        action="append",
        metavar="FUNCTION[:LINE]=N",
        help="follow the loops of a function, or the one at a line of it, for N rounds (bounded; "
        "repeatable)",
    )
    group.add_argument(
        "--rounds",
        dest="rounds",
        type=positive_integer,
        metavar="N",
        help=f"let every thread run N times (bounded) (default: {DEFAULTS.rounds})",
    )
    group.add_argument(
        "--mutex-rules",
        dest="mutex_rules",
        type=choice_of(MutexRules),
        metavar="NAME",
        help="who may unlock: the owner (posix) or any thread (linux) "
        f"(default: {DEFAULTS.mutex_rules})",
    )
    group.add_argument(
        "--layers",
        dest="layers",
        action="store_true",
        help="show what each layer of the interleave engine left open",
    )


def add_budget_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("budget")
    group.add_argument(
        "--timeout",
        dest="timeout",
        type=positive_number,
        metavar="SECONDS",
        help="give the best answer known after this time, compiling included (default: 300)",
    )
    group.add_argument(
        "--memory",
        dest="memory",
        type=positive_number,
        metavar="GIB",
        help="let each engine use at most this much memory (default: no limit)",
    )
    group.add_argument(
        "--jobs",
        dest="jobs",
        type=positive_integer,
        metavar="N",
        help="run up to N engines at a time (default: 1)",
    )
    group.add_argument(
        "--seed",
        dest="seed",
        type=int,
        metavar="N",
        help=f"where random choices start; the same seed, the same run (default: {DEFAULTS.seed})",
    )
