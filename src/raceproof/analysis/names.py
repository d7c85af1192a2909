"""Numbers, ranges and bytes that are known by name only: what `pools` is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from raceproof.domains.integers import Integers


RETURNED = 1 << 40
"""Stands for a register: what the function of the context returns."""


class Token(NamedTuple):
    """The value of a register in one activation, whatever it is."""

    context: int
    register: int

    def zero_extended(self) -> Token:
        """The name of the same value, widened as an unsigned number."""
        return Token(self.context, ~self.register)


class Cell(NamedTuple):
    """As a root: what stands there now."""

    base: int
    offset: int
    size: int


Root = Token | Cell


class Linear(NamedTuple):
    """A number: root + constant."""

    root: Root | None
    constant: int

    def plus(self, number: int) -> Linear:
        return Linear(self.root, self.constant + number)


class CountRange(NamedTuple):
    """From `low` up to and without `high`, as a test of this `sign` sees it (s, u).

    With an empty sign the test was `!=`: the same numbers if low <= high, else far more.
    """

    sign: str
    low: Linear
    high: Linear

    def moved(self, distance: int) -> CountRange:
        return CountRange(self.sign, self.low.plus(distance), self.high.plus(distance))

    def covers(self, other: CountRange) -> bool:
        same = self.low == other.low and self.high == other.high
        return same and self.sign in ("", other.sign)


class ByteRegion(NamedTuple):
    """Bytes of an object: `size` from `start`, and again after each `stride` if that is not 0; the
    whole object if the size is 0."""

    base: int
    start: int
    stride: int
    size: int

    def may_touch(self, base: int, offsets: Integers | None, size: int | None) -> bool:
        if base != self.base:
            return False
        if offsets is None or size is None or self.size == 0:
            return True
        first, last, step = offsets.progression()
        if self.stride == 0:
            return first < self.start + self.size and self.start < last + size
        if step % self.stride:
            return True
        distance = (first - self.start) % self.stride
        return distance < self.size or distance + size > self.stride
