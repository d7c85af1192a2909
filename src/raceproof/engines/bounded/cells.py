"""Shared memory cut into cells that are read and written whole.

The ranges of all accesses to an object cut it at their ends; what lies between two neighbouring
cuts is a cell. Where a program always accesses a variable in the same way, it is one cell.
"""

from __future__ import annotations

import itertools

from raceproof.engines.bounded.events import Place, Unfolding
from raceproof.engines.bounded.objects import UnfoldObject
from raceproof.smt.terms import Term, Terms

Cell = tuple[int, int, int]
"""Object, first byte, end."""


class UnfoldCells:
    """The cells of one unfolding."""

    def __init__(self, unfolding: Unfolding, terms: Terms) -> None:
        self._terms = terms
        self.objects: dict[int, UnfoldObject] = {}
        cuts: dict[int, set[int]] = {}
        for thread in unfolding.threads:
            for event in thread.events:
                for item in (*event.operations, *event.accesses):
                    for target, offset in item.places:
                        self.objects[target.number] = target
                        cuts.setdefault(target.number, set()).update((offset, offset + item.size))
        self._cuts = {number: sorted(found) for number, found in cuts.items()}
        self._memory: dict[tuple[int, int, int], tuple[Cell, ...]] = {}

    def of(self, place: Place, size: int) -> tuple[Cell, ...]:
        """The cells of a range, lowest first."""
        number, start = place[0].number, place[1]
        key = (number, start, size)
        found = self._memory.get(key)
        if found is None:
            inside = [cut for cut in self._cuts[number] if start <= cut <= start + size]
            found = tuple((number, a, b) for a, b in itertools.pairwise(inside))
            self._memory[key] = found
        return found

    def join(self, parts: list[Term]) -> Term:
        """The value of a range from the values of its cells."""
        result = parts[0]
        for part in parts[1:]:
            result = self._terms.concat(part, result)
        return result

    def part(self, value: Term, place: Place, cell: Cell) -> Term:
        """What a value at a place puts into one of its cells."""
        low = (cell[1] - place[1]) * 8
        return self._terms.extract(value, low + (cell[2] - cell[1]) * 8 - 1, low)
