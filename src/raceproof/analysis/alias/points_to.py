"""Points-to analysis: which objects, and where in them, each pointer of a program may point to.

Inclusion-based (Andersen's), for the whole program at once, field-sensitive, without regard to the
order of statements or to calling contexts; calls through pointers and the entries of threads are
resolved on the way. Each place that allocates is one object, and so is each call of a function that
only allocates (`wrappers`).

Why the result covers every execution. Every way in which one step of a program can put an address
into a register or into memory is one constraint, and the solution satisfies them all, in whatever
order, how often and by whichever threads the steps are taken. So by induction over an execution
every address that a register or a cell holds at any time is in the set of its node. That counts on
what C demands of pointers: arithmetic stays inside of the object, an index inside of its array. An
address is kept in words as wide as a pointer (as a whole, or copied with its object), or in parts
that is not followed (`scattered`). An integer that was made from an address keeps its object. An
address made up from plain numbers has no object: who goes through it is told that nothing is known
(`PointsTo.is_known`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from raceproof.analysis.alias.calls import PointsToCalls
from raceproof.analysis.alias.cells import Cells, Thing
from raceproof.analysis.alias.frames import Frames
from raceproof.analysis.alias.generate import Generator
from raceproof.analysis.alias.scattered import Scattered
from raceproof.analysis.alias.solver import InclusionSolver, bits
from raceproof.concurrency.accesses import Events
from raceproof.ir import NullPointer, Program, Register, Undefined, Value
from raceproof.verdict import BaseKind

Target = tuple[Thing, int | None]
"""An object and a cell of it; None: any."""


class PointsTo:
    """The solution; ask it about values of functions and about calls."""

    def __init__(self, program: Program, events: Events, deadline: float | None = None) -> None:
        self.program = program
        self.events = events
        self.cells = Cells()
        self._solver = InclusionSolver(
            self.cells, lambda: deadline is not None and time.monotonic() > deadline
        )
        self._frames = Frames(program, events)
        self._generator = Generator(program, self.cells, self._solver, self._frames)
        self._calls = PointsToCalls(self._generator, events)
        self._generator.globals()
        for function in program.defined:
            if self._frames.has_own(function):
                self._calls.own_frame(function)
        self._program_arguments()
        for function in program.defined:
            self._thread_results(function.name)
        self._calls.settle()
        Scattered(program, self._generator, self._calls.settle).settle()
        self._targets: dict[int, tuple[Target, ...]] = {}

    def _program_arguments(self) -> None:
        """`main` gets memory that the program did not make."""
        entry = self.program.functions.get(self.program.entry)
        if entry is None:
            return
        for parameter in entry.parameters:
            if self._generator.carries(parameter.type):
                register = self._generator.register(entry.name, parameter.index)
                self._solver.copy(self._generator.outside("arguments"), register)

    def _thread_results(self, name: str) -> None:
        """What any function returns that may be the entry of a thread can be joined."""
        thing = self.cells.find("function", name)
        if thing is not None:
            self._solver.copy(self._generator.return_node(name), self._calls.thread_result)

    # --- questions ------------------------------------------------------------

    def targets(
        self, function: str, value: Value, calls: tuple[int, ...] = ()
    ) -> tuple[Target, ...]:
        """Where a value may point to, by number of object and offset; `calls`: if these are the
        latest calls on the way to the function."""
        return self._targets_of(self._held(function, value, calls))

    def frames(self, function: str, calls: tuple[int, ...]) -> tuple[str, ...]:
        """What tells ways to a function apart: see `Frames`."""
        return self._frames.after(function, calls)

    def _held(self, function: str, value: Value, calls: tuple[int, ...]) -> int:
        if not isinstance(value, Register):
            node = self._generator.value(value)
            return 0 if node is None else self._solver.held(node)
        held = 0
        for frame in self._frames.after(function, calls):
            node = self._generator.known_register(frame, value.index)
            if node is not None:
                held |= self._solver.held(node)
        return held

    def _of_node(self, node: int) -> tuple[Target, ...]:
        return self._targets_of(self._solver.held(node))

    def _targets_of(self, held: int) -> tuple[Target, ...]:
        found = self._targets.get(held)
        if found is None:
            targets = {}
            for address in bits(held):
                thing, offset = self.cells.addresses[address]
                cell = None if offset is None else thing.shape.canonical(offset)
                targets[(thing.number, -1 if cell is None else cell)] = (thing, cell)
            found = self._targets[held] = tuple(targets[key] for key in sorted(targets))
        return found

    def is_known(self, function: str, value: Value) -> bool:
        """Is there an object for every address that the value may be?"""
        if isinstance(value, NullPointer | Undefined):
            return True
        return bool(self.targets(function, value))

    def callees(self, call: int) -> Iterable[str]:
        """The functions that a call may mean, by name."""
        return sorted(self._calls.callees.get(call, ()))

    def entries(self, call: int) -> Iterable[str]:
        """The functions that a call has run: by a new thread, or as a callback."""
        return sorted(self._calls.entries.get(call, ()))

    def reachable(self, things: Iterable[Thing]) -> set[int]:
        """The numbers of these objects and of all that can be reached from them."""
        work = list(things)
        found: set[int] = set()
        seen = 0
        while work:
            thing = work.pop()
            if thing.number in found:
                continue
            found.add(thing.number)
            held = 0
            for _, contents in self.cells.contents_of(thing):
                held |= contents
            for address in bits(held & ~seen):
                target = self.cells.addresses[address][0]
                if target.number not in found:
                    work.append(target)
            seen |= held
        return found

    def kept(self) -> set[int]:
        """The objects whose address lies in memory, or was handed to a thread."""
        held = 0
        for thing in self.cells.things:
            for _, contents in self.cells.contents_of(thing):
                held |= contents
        found = {self.cells.addresses[address][0].number for address in bits(held)}
        for node in self._calls.handed_over:
            found.update(thing.number for thing, _ in self._of_node(node))
        return found

    def returned(self) -> Iterator[tuple[str, set[int]]]:
        """The functions, and the numbers of the objects whose address each may return; what is
        handed to who joins a thread comes without a name."""
        for name, node in self._generator.returns.items():
            yield name, {thing.number for thing, _ in self._of_node(node)}
        yield "", {thing.number for thing, _ in self._of_node(self._calls.thread_result)}

    def shared(self) -> set[int]:
        """The objects that more than one thread may get hold of."""
        roots = [
            thing
            for thing in self.cells.things
            if thing.kind in (BaseKind.GLOBAL, BaseKind.EXTERNAL, BaseKind.STRING)
        ]
        nodes = [*self._calls.handed_over, self._calls.thread_result]
        roots += [thing for node in nodes for thing, _ in self._of_node(node)]
        return self.reachable(roots)
