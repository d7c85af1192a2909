"""The values that an atomic read may return without any order; see `memory_order`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unordered:
    """What an atomic read may return without any order: the values in `values`, or with
    `is_complement` all others. For a compare-exchange: whether it may succeed, or fail (with any
    value), without any order."""

    values: frozenset[int] = frozenset()
    is_complement: bool = False
    may_succeed: bool = False
    may_fail: bool = False
    stores_in_vain: bool = False
    """For an exchange that does not release: if it returns without any order the very value that it
    stores, it may as well not store it."""

    @property
    def is_anything(self) -> bool:
        return self.is_complement and not self.values

    def contains(self, value: int) -> bool:
        return (value in self.values) != self.is_complement

    def union(self, other: Unordered) -> Unordered:
        """Of two sets of values."""
        if self.is_complement and other.is_complement:
            return Unordered(self.values & other.values, True)
        if self.is_complement:
            return Unordered(self.values - other.values, True)
        if other.is_complement:
            return Unordered(other.values - self.values, True)
        return Unordered(self.values | other.values)

    def __bool__(self) -> bool:
        return bool(self.values) or self.is_complement or self.may_succeed or self.may_fail


NOTHING = Unordered()
ANYTHING = Unordered(frozenset(), True, True, True)
