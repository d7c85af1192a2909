"""What is known when a thread is at one point: its locks, and who runs beside it.

Points are values: compared by content, shared, never changed.
"""

from __future__ import annotations

from typing import NamedTuple

from raceproof.analysis.facets.acquisition_order import common_order
from raceproof.analysis.locks import ATOMIC, NO_LOCKS, Held, LockKey, common_locks

Sum = tuple[int, int, tuple[tuple[int, int], ...]]
"""An address as a sum over registers: root, constant, (index, scale)s. A root below 0 is -1 less
the number of a base, an index below 0 the complement of a register that is zero-extended."""
ALL_ALONG = 1
"""From here on: something before may not let us go on."""
IN_BRANCH = 2
"""While in this block, which some runs leave out."""


class Beside(NamedTuple):
    """A lock known by its place only: at the sum."""

    place: Sum
    is_write: bool


class Attempt(NamedTuple):
    """The lock is held if the register is zero (or else not zero)."""

    register: int
    is_zero: bool
    key: LockKey | None
    place: Sum | None
    is_write: bool


class Point(NamedTuple):
    held: frozenset[Held] = NO_LOCKS
    maybe: frozenset[LockKey] = frozenset()
    beside: frozenset[Beside] = frozenset()
    attempts: frozenset[Attempt] = frozenset()
    fresh: frozenset[int] = frozenset()
    """Parameters that held, at the function's entry, the address of an object that no other thread
    has seen; see `freshness`."""
    running: int = 0
    """Bit set of the threads that may run beside this one."""
    sure: int = 0
    """Bit set of those created and not joined on every way here."""
    order: tuple[LockKey, ...] = ()
    """The locks held in the order of their acquisition, where it is clear."""
    guided: int = 0
    """Is it unclear whether this point is ever reached? `ALL_ALONG` or `IN_BRANCH`, or both."""

    @property
    def is_atomic(self) -> bool:
        return any(held.lock == ATOMIC for held in self.held)

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
    if a is b or a == b:
        return a
    held = common_locks(a.held, b.held)
    return Point(
        held,
        a.maybe | b.maybe,
        a.beside & b.beside,
        a.attempts & b.attempts,
        a.fresh & b.fresh,
        a.running | b.running,
        a.sure & b.sure,
        common_order(a.order, b.order, held),
        a.guided | b.guided,
    )
