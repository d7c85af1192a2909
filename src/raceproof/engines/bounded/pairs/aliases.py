"""Accesses that never meet, because the types of a program keep its pointers apart.

    node = container_of(at, struct node, link);   node->count++;   at = node->link.next;

The thread-modular analysis follows values from write to read. Where a list is followed, a write
through a pointer of which it has lost the offset may change any link, so that it loses the next one
too, and it never gets back. The points-to analysis of the backend `alias` knows nothing of the
order of statements, but what a member of a struct may hold it tells for each member of its own, and
starts from nothing: as long as no count is written to a link, no link is anything but a link. Two
accesses whose pointers reach no byte in common, in any execution, are not a race.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from raceproof.analysis.alias.cells import Thing
from raceproof.analysis.alias.points_to import PointsTo
from raceproof.concurrency.accesses import Events
from raceproof.ir import AtomicUpdate, CompareExchange, Load, Program, Store

ASSUMPTION = "an index stays inside of its array (undefined in C else)"


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Of one object: `size` bytes at `first`, and if `distance` is not 0 at each further multiple
    of it up to `end` (None: nobody knows)."""

    thing: int
    first: int
    end: int | None
    distance: int
    size: int

    def may_meet(self, other: _Bytes) -> bool:
        if self.thing != other.thing:
            return False
        if self._ends_before(other) or other._ends_before(self):
            return False
        step = gcd(self.distance, other.distance)
        if not step:
            return True
        gap = (other.first - self.first) % step
        return gap < self.size or step - gap < other.size

    def _ends_before(self, other: _Bytes) -> bool:
        if not self.distance:
            return self.first + self.size <= other.first
        return self.end is not None and self.end - 1 + self.size <= other.first


class Aliases:
    """What the loads and stores of a program may touch."""

    def __init__(self, program: Program, events: Events, deadline: float) -> None:
        self._program = program
        self._points_to = PointsTo(program, events, deadline)
        self._known: dict[int, tuple[_Bytes, ...] | None] = {}

    def are_apart(self, instruction: int, other: int) -> bool:
        """Do the two never touch the same byte?"""
        mine, theirs = self._touched(instruction), self._touched(other)
        if mine is None or theirs is None:
            return False
        return not any(a.may_meet(b) for a in mine for b in theirs)

    def _touched(self, number: int) -> tuple[_Bytes, ...] | None:
        """None: nobody knows."""
        if number not in self._known:
            self._known[number] = self._find(number)
        return self._known[number]

    def _find(self, number: int) -> tuple[_Bytes, ...] | None:
        instruction = self._program.instruction(number)
        match instruction:
            case Load(type=type_):
                pass
            case Store(value=value) | AtomicUpdate(value=value):
                type_ = value.type
            case CompareExchange(expected=value):
                type_ = value.type
            case _:
                return None
        name = self._program.function_of(number).name
        targets = self._points_to.targets(name, instruction.pointer)
        size = self._program.layout.store_size(type_)
        found = []
        for thing, cell in targets:
            if cell is None or thing.descriptor[0] == "external":
                return None
            found.append(_bytes(thing, cell, size))
        return tuple(found) or None


def _bytes(thing: Thing, cell: int, size: int) -> _Bytes:
    first, end, distance = thing.shape.places(cell)
    return _Bytes(thing.number, first, end, distance, size)
