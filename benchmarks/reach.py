"""Does a coarser analysis ever lose a path? What `value`, its coarse way and `alias` get to.

Every C file named, or below a folder that is named (`main.c` of each part, or all), is one program.
Three things must be within the same of the coarser backends: the blocks that are reached (and so
the functions), the threads that are created (call and entry), and the instructions that access what
several threads do. Two kinds of accesses do not count, as `alias` sees that no other thread can
reach the object, and leaves them out: those of a thread's own variables, and, where `alias`
is not told otherwise, those of an object that is not published yet.

One line for each program, as tab-separated values: the numbers of blocks, threads and accesses, for
each backend that came to an end in time, and what is missing where. Ends with exit code 1 if
anything is.

    python benchmarks/reach.py tests/programs --timeout 20
"""

import argparse
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from raceproof.analysis.backend import Analysed
from raceproof.analysis.facts import ProgramFacts
from raceproof.analysis.interpreter import OutOfBudget
from raceproof.analysis.thread_modular import Analysis
from raceproof.analysis.walk.freshness import Freshness
from raceproof.concurrency.catalogue import Models
from raceproof.errors import UserError
from raceproof.frontend import load_program
from raceproof.ir import Program
from raceproof.options import DataModel, Options
from raceproof.verdict import BaseKind

DEPTH = 2
"""Latest calls that `alias` tells apart."""


@dataclass(frozen=True)
class Reach:
    """What an analysis got to."""

    blocks: frozenset[tuple[str, int]]
    threads: frozenset[tuple[int, str]]
    accesses: frozenset[int]
    shared: frozenset[int]
    """Of those the ones of objects that several threads access, or several instances of one, while
    another thread may run."""
    tells_slots: bool
    """Are locals of different calls told apart? Else `alias`, which sees that they stay in their
    function, may well have fewer accesses that are shared."""

    def missing(self, coarser: "Reach", program: Program) -> list[str]:
        """What the coarser one lacks."""
        found = [f"block {block} of {function}" for function, block in self.blocks - coarser.blocks]
        found += [
            f"thread {entry} from {program.instruction(call).position}"
            for call, entry in self.threads - coarser.threads
        ]
        if self.tells_slots:
            found += [
                f"access at {program.instruction(number).position}"
                for number in self.shared - coarser.accesses
            ]
        return sorted(found)

    def __str__(self) -> str:
        return f"{len(self.blocks)}\t{len(self.threads)}\t{len(self.shared)}"


def reach_of(analysis: Analysed, tells_slots: bool = True) -> Reach:
    """What all threads but handlers of signals got to: those are left out by assumption."""
    threads = [info for info in analysis.threads.all if not info.is_handler]
    accesses = [access for info in threads for access in info.records.accesses.values()]
    users: dict[int, set[int]] = {}
    for access in accesses:
        users.setdefault(access.base, set()).add(access.thread)
    many = {info.index for info in threads if not info.is_unique}
    blind = {number for info in threads for number, _ in info.records.blind}
    owner = analysis.objects.owner

    def is_own(base: int) -> bool:
        return analysis.objects[base].kind in (BaseKind.STACK, BaseKind.THREAD_LOCAL)

    return Reach(
        frozenset(block for info in threads for block in info.records.reached),
        frozenset((info.call, info.entry) for info in threads if info.call >= 0),
        frozenset(access.instruction for access in accesses) | blind,
        frozenset(
            access.instruction
            for access in accesses
            if access.facets.may_parallel
            and not (owner.get(access.base, access.thread) == access.thread and is_own(access.base))
            and (len(users[access.base]) > 1 or users[access.base] & many)
        ),
        tells_slots,
    )


def reaches(program: Program, seconds: float) -> dict[str, Reach]:
    """By the name of the backend, from fine to coarse, those that were done in time."""
    facts = ProgramFacts(program, Models.load(()))
    found: dict[str, Reach] = {}
    for name, is_coarse in (("value", False), ("coarse", True)):
        analysis = Analysis(
            program,
            facts.models,
            events=facts.events,
            context_depth=0 if is_coarse else None,
            is_coarse=is_coarse,
            deadline=time.monotonic() + seconds,
        )
        try:
            analysis.run()
            found[name] = reach_of(analysis, not is_coarse)
        except OutOfBudget:
            continue
    Freshness.is_fresh = lambda *_: False  # type: ignore[method-assign]
    with suppress(OutOfBudget):
        found["alias"] = reach_of(facts.walk(DEPTH, time.monotonic() + seconds))
    return found


def programs(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(path.glob("*/main.c")) or sorted(path.rglob("*.c*"))
        else:
            found.append(path)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds for each backend")
    parser.add_argument("--data-model", type=DataModel, default=DataModel.LP64)
    arguments = parser.parse_args()
    options = Options(data_model=arguments.data_model)
    is_lost = False
    for path in programs(arguments.paths):
        try:
            program = load_program([path], options)
        except UserError as error:
            print(f"{path}\t{error}", flush=True)
            continue
        found = list(reaches(program, arguments.timeout).items())
        cells = [f"{name} {reach}" for name, reach in found]
        for (name, fine), (other, coarse) in combinations(found, 2):
            lost = fine.missing(coarse, program)
            if lost:
                is_lost = True
                rest = f", {len(lost) - 5} more" if len(lost) > 5 else ""
                cells.append(f"{other} lacks what {name} reaches: {', '.join(lost[:5])}{rest}")
        print("\t".join([str(path), *cells]), flush=True)
    return int(is_lost)


if __name__ == "__main__":
    sys.exit(main())
