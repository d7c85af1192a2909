"""``raceproof threads``: who creates whom, where, and who runs beside whom."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from raceproof.cli.arguments import add_program_arguments, read_options
from raceproof.cli.engine_arguments import (
    add_backend_argument,
    add_context_argument,
    add_time_argument,
)
from raceproof.cli.output import output_stream
from raceproof.errors import UserError

if TYPE_CHECKING:
    from raceproof.analysis.alias.backend import AliasBackend
    from raceproof.analysis.facts import ProgramFacts
    from raceproof.engines.modular.creation import ThreadNode
    from raceproof.ir import Program
    from raceproof.options import Options
from raceproof.cli.progress import shown_progress

EPILOG = """\
A thread is known by the places of its creation, from main on. It is listed as "several at once" if
more than one of it may run at a time. Joins are listed where it is sure which thread is waited for.
Of a large program points-to sets tell at once who may create whom; who has ended when another one
starts is not looked at then, unless --backend asks for it.

examples:
  raceproof threads bank.c
  raceproof threads bank.c --format dot | dot -Tsvg > threads.svg
  raceproof threads server.c --format json --backend alias
  raceproof threads --target memcached --function drive_machine

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
    group.add_argument(
        "--function",
        dest="function",
        metavar="NAME",
        default=None,
        help="only the threads that may run this function, and by which calls",
    )
    add_backend_argument(group)
    add_context_argument(group)
    add_time_argument(group)


def run(arguments: Namespace) -> int:
    from raceproof.api import load, remaining
    from raceproof.cli import thread_listing

    options = read_options(arguments)
    paths: dict[int, list[str]] | None = None
    notices: tuple[str, ...] = ()
    with shown_progress(options) as progress:
        started = time.monotonic()
        program = load(arguments.files, options, progress)
        if progress is not None:
            progress("analysing threads", 0.0)
        left = remaining(options, started)
        if arguments.function is not None:
            nodes, paths = _running(program, left, arguments.function)
        else:
            nodes, notices = _all(program, left, is_free="backend" not in arguments)
    with output_stream(options) as stream:
        match arguments.listing:
            case "dot":
                thread_listing.write_dot(nodes, stream)
            case "json":
                thread_listing.write_json(nodes, stream, paths)
            case _:
                if arguments.function is not None and not nodes:
                    stream.write(f"no thread runs {arguments.function}\n")
                thread_listing.write_text(nodes, stream, paths)
                for notice in notices:
                    stream.write(f"Notice: {notice}\n")
    return 0


def _all(
    program: Program, options: Options, is_free: bool
) -> tuple[list[ThreadNode], tuple[str, ...]]:
    """All threads: of a large program by points-to sets alone, if the user chose no backend."""
    from raceproof.analysis.facts import ProgramFacts
    from raceproof.concurrency.catalogue import Models
    from raceproof.engines.modular.creation import coarse_creation_graph, creation_graph
    from raceproof.engines.modular.look import look

    facts = ProgramFacts(program, Models.load(options.models))
    if is_free and not facts.is_small:
        nodes, _ = coarse_creation_graph(_backend(facts, options))
        return nodes, (
            "the program is large: points-to sets tell who may create whom, "
            "not who has ended when another starts",
        )
    seen = look(program, options)
    return creation_graph(seen.analysis, options.latest_calls), seen.notices


def _running(
    program: Program, options: Options, wanted: str
) -> tuple[list[ThreadNode], dict[int, list[str]]]:
    """The threads that may run a function, with the calls that lead to it."""
    from raceproof.analysis.facts import ProgramFacts
    from raceproof.concurrency.catalogue import Models
    from raceproof.engines.modular.creation import coarse_creation_graph

    displays = {function.name: function.display for function in program.functions.values()}
    names = [name for name, display in displays.items() if wanted in (name, display)]
    if not names:
        near = get_close_matches(wanted, displays.values(), 3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UserError(f"--function {wanted}: the program has no such function{hint}")
    facts = ProgramFacts(program, Models.load(options.models))
    nodes, graph = coarse_creation_graph(_backend(facts, options))
    paths = {}
    for thread in graph.threads:
        found = (graph.path(thread.entry, name) for name in names)
        path = min(filter(None, found), key=len, default=None)
        if path is not None:
            paths[thread.index] = [_step(displays.get(name, name), many) for name, many in path]
    return [node for node in nodes if node.number in paths], paths


def _step(name: str, choices: int) -> str:
    return f"{name} (by a pointer to one of {choices})" if choices > 1 else name


def _backend(facts: ProgramFacts, options: Options) -> AliasBackend:
    from raceproof.analysis.alias.solver import OutOfTime

    try:
        deadline = None if options.timeout is None else time.monotonic() + options.timeout
        return facts.alias(deadline)
    except OutOfTime:
        raise UserError(
            f"not done within {options.timeout:.0f} s: give more time (--timeout)"
        ) from None
