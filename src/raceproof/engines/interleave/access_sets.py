"""What transitions touch, as sets of bits, so that two can be compared at once.

A transition touches bytes of memory and keys: locks, conditions and whatever else stands in the
machine's `sync`, the life of a thread, the numbering of threads. Two transitions that touch nothing
in common, or only read it, *commute*: whichever goes first, the same configuration results, and
neither enables or disables the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from raceproof.machine.segments import WRITE, AccessRange

_MANY = 1000
_COARSE = 1 << 10
"""With more than so many different ranges, new ones are rounded to pages of so many bytes."""


class AccessSet(NamedTuple):
    """What is read and what is written (and perhaps read), as bits."""

    reads: int = 0
    writes: int = 0
    is_final: bool = False
    """Ends the execution, or keeps all others out: commutes with nothing."""

    def union(self, other: AccessSet) -> AccessSet:
        return AccessSet(
            self.reads | other.reads, self.writes | other.writes, self.is_final or other.is_final
        )


NOTHING = AccessSet()


class AccessSets:
    """Gives ranges and keys their bits."""

    def __init__(self) -> None:
        self._bits: dict[Any, int] = {}
        self._ranges: list[tuple[int, int, int]] = []
        self._overlapping: dict[int, int] = {}
        """The bit of a range that overlaps others -> all of these, and itself."""
        self._overlapped = 0
        """The bits in that table."""

    def of(self, reads: Iterable[Any], writes: Iterable[Any]) -> AccessSet:
        """Of keys."""
        return AccessSet(self._union(reads), self._union(writes))

    def of_accesses(self, accesses: Iterable[AccessRange]) -> AccessSet:
        reads = writes = 0
        for first, end, flags in accesses:
            if flags & WRITE:
                writes |= self._range(first, end)
            else:
                reads |= self._range(first, end)
        return AccessSet(reads, writes)

    def key(self, key: Any) -> int:
        return self._bits.get(key) or self._bits.setdefault(key, 1 << len(self._bits))

    def commute(self, one: AccessSet, other: AccessSet) -> bool:
        if one.is_final or other.is_final:
            return False
        writes, reads = self._spread(one.writes), self._spread(one.reads)
        return not (writes & (other.reads | other.writes) or reads & other.writes)

    def _union(self, keys: Iterable[Any]) -> int:
        found = 0
        for key in keys:
            found |= self.key(key)
        return found

    def _range(self, first: int, end: int) -> int:
        found = self._bits.get((first, end))
        if found is not None:
            return found
        if len(self._ranges) > _MANY:
            first, end = first // _COARSE * _COARSE, -(-end // _COARSE) * _COARSE
            found = self._bits.get((first, end))
            if found is not None:
                return found
        found = self._bits[first, end] = 1 << len(self._bits)
        for start, stop, bit in self._ranges:
            if first < stop and start < end:
                self._connect(bit, found)
        self._ranges.append((first, end, found))
        return found

    def _connect(self, one: int, other: int) -> None:
        for bit, more in ((one, other), (other, one)):
            self._overlapping[bit] = self._overlapping.get(bit, bit) | more
            self._overlapped |= bit

    def _spread(self, bits: int) -> int:
        """With all that overlaps."""
        found = bits
        for bit in _each(bits & self._overlapped):
            found |= self._overlapping[bit]
        return found


def _each(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low
        bits ^= low


class WatchedTable(dict[Any, Any]):
    """The machine's `sync`, which notes who is looked up and who is changed."""

    def __init__(self, content: dict[Any, Any]) -> None:
        super().__init__(content)
        self.read: set[Any] = set()
        self.written: set[Any] = set()

    def get(self, key: Any, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)

    def __getitem__(self, key: Any) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: Any) -> bool:
        self.read.add(key)
        return super().__contains__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.written.add(key)
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        self.written.add(key)
        super().__delitem__(key)

    def pop(self, key: Any, *default: Any) -> Any:
        self.written.add(key)
        return super().pop(key, *default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        self.written.add(key)
        return super().setdefault(key, default)
