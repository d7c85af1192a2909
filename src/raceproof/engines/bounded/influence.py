"""Which values a race can depend on.

Whether two accesses meet depends on where they go and on whether their threads get there: on the
guards of events, on what they wait for, on addresses. What a program computes besides, such as the
sum that two threads add to under a lock, needs no place in the formula:

    lock(&m); sum += n; unlock(&m);         the lock's state matters, the sum does not

A value matters if one of these speaks of it, or if it is written to a cell from which a value that
matters is read. A read that does not matter is left without a definition.
"""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.engines.bounded.cells import Cell, UnfoldCells
from raceproof.engines.bounded.events import Read, Unfolding, Write
from raceproof.smt.terms import Term, subterms


class Influence:
    """For one unfolding."""

    def __init__(self, unfolding: Unfolding, cells: UnfoldCells) -> None:
        self._cells = cells
        self._seen: set[int] = set()
        self._variables: set[int] = set()
        readers: dict[int, list[Read]] = {}
        writers: dict[Cell, list[Write]] = {}
        for thread in unfolding.threads:
            for event in thread.events:
                for operation in event.operations:
                    if isinstance(operation, Write):
                        for cell in self._cells_of(operation):
                            writers.setdefault(cell, []).append(operation)
                    else:
                        for number in _variables(operation.variable):
                            readers.setdefault(number, []).append(operation)
        open_variables = self._reach(_decisive(unfolding))
        done: set[Cell] = set()
        while open_variables:
            for read in readers.get(open_variables.pop(), ()):
                for cell in self._cells_of(read):
                    if cell not in done:
                        done.add(cell)
                        values = [write.value for write in writers.get(cell, ())]
                        open_variables += self._reach(values)

    def _cells_of(self, operation: Read | Write) -> Iterator[Cell]:
        for place in operation.places:
            yield from self._cells.of(place, operation.size)

    def _reach(self, terms: list[Term]) -> list[int]:
        """The variables that these terms are the first to speak of."""
        new = [t.number for t in subterms(terms, self._seen) if t.operation == "var"]
        self._variables.update(new)
        return new

    def matters(self, read: Read) -> bool:
        return any(number in self._variables for number in _variables(read.variable))


def _variables(term: Term) -> list[int]:
    if term.operation == "var":
        return [term.number]
    return [part.number for part in subterms([term], set()) if part.operation == "var"]


def _decisive(unfolding: Unfolding) -> list[Term]:
    """What decides where the threads get to, and what they access there."""
    found: list[Term] = []
    for thread in unfolding.threads:
        for event in thread.events:
            found += (event.guard, event.assume)
            for operation in event.operations:
                found.append(operation.address)
                if isinstance(operation, Write):
                    found.append(operation.condition)
            for access in event.accesses:
                found += (access.address, access.condition)
            found += (condition for _, condition in event.creates)
        for constraint in thread.constraints:
            found += (constraint.guard, constraint.condition)
        found += (cut.guard for cut in thread.cuts)
        found += (hiding.guard for hiding in thread.hidings)
    return found
