"""Bytes of an object, as far as its cells tell them apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from raceproof.analysis.alias.cells import Thing


@dataclass(frozen=True, slots=True)
class Bytes:
    """Of one object: `size` bytes at `first`, and if `distance` is not 0 at each further multiple
    of it up to `end` (None: unknown)."""

    thing: int
    first: int
    end: int | None
    distance: int
    size: int

    def may_meet(self, other: Bytes) -> bool:
        if self.thing != other.thing:
            return False
        if self._ends_before(other) or other._ends_before(self):
            return False
        step = gcd(self.distance, other.distance)
        if not step:
            return True
        gap = (other.first - self.first) % step
        return gap < self.size or step - gap < other.size

    def _ends_before(self, other: Bytes) -> bool:
        if not self.distance:
            return self.first + self.size <= other.first
        return self.end is not None and self.end - 1 + self.size <= other.first


def bytes_at(thing: Thing, cell: int | None, size: int) -> Bytes:
    """So many bytes at a cell; at any offset if it is None."""
    if cell is None:
        return Bytes(thing.number, 0, None, 1, size)
    first, end, distance = thing.shape.places(cell)
    return Bytes(thing.number, first, end, distance, size)
