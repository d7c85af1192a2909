"""What is known when a thread is at one point: its locks, and who runs beside it.

Points are values: compared by content, shared, never changed.
"""

from __future__ import annotations

from typing import NamedTuple

from raceproof.analysis.facets import START, Facets
from raceproof.analysis.locks import LockKey

Sum = tuple[int, int, tuple[tuple[int, int], ...]]
"""An address as a sum over registers: root, constant, (index, scale)s. A root below 0 is -1 less
the number of a base, an index below 0 the complement of a register that is zero-extended."""


class Beside(NamedTuple):
    """A lock known by its place only: at the sum."""

    place: Sum
    is_write: bool


class LockAttempt(NamedTuple):
    """The lock is held if the register is zero (or else not zero)."""

    register: int
    is_zero: bool
    key: LockKey | None
    place: Sum | None
    is_write: bool


class Point(NamedTuple):
    facets: Facets = START
    """Those that need no values: locks, threads, whether the way here depends on others."""
    beside: frozenset[Beside] = frozenset()
    attempts: frozenset[LockAttempt] = frozenset()
    fresh: frozenset[int] = frozenset()
    """Parameters that held, at the function's entry, the address of an object that no other thread
    has seen; see `freshness`."""
    is_in_branch: bool = False
    """Are we in a block that some runs leave out?"""

    @property
    def is_atomic(self) -> bool:
        return self.facets.holds_atomic

    @property
    def depends(self) -> bool:
        """Is it unclear whether this point is ever reached?"""
        return self.facets.depends_on_others or self.is_in_branch

    def with_facets(self, facets: Facets) -> Point:
        return self if facets is self.facets else self._replace(facets=facets)

    def depending(self) -> Point:
        """From here on: something before may not let us go on."""
        if self.facets.depends_on_others:
            return self
        return self._replace(facets=self.facets._replace(depends_on_others=True))

    def after_definition(self, register: int) -> Point:
        """A register got a new value: what was said of the old one is void."""
        point = self
        if self.beside:
            kept = frozenset(b for b in self.beside if not _mentions(b.place, register))
            point = point._replace(beside=kept)
        if self.attempts:
            left = frozenset(
                a
                for a in self.attempts
                if a.register != register and not (a.place and _mentions(a.place, register))
            )
            point = point._replace(attempts=left)
        return point


def _mentions(place: Sum, register: int) -> bool:
    return place[0] == register or any(index in (register, ~register) for index, _ in place[2])


def join(a: Point, b: Point) -> Point:
    """What holds for both; `a` itself if `b` adds nothing."""
    if a is b or a == b:
        return a
    joined = Point(
        a.facets.join(b.facets),
        a.beside & b.beside,
        a.attempts & b.attempts,
        a.fresh & b.fresh,
        a.is_in_branch or b.is_in_branch,
    )
    return a if joined == a else joined
