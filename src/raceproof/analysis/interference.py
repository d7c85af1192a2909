"""What threads write to memory that others may read.

For each thread and base: the values written, by offset. A read joins what the threads running
beside it wrote to the bytes it reads. Entries only grow; after a few changes they are widened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from raceproof.domains import integers as ints
from raceproof.domains import values as domain
from raceproof.domains.integers import Integers
from raceproof.domains.values import AbstractValue

_PATIENCE = 4
_MOST_CELLS = 256


class _Writes:
    """What one thread wrote to one base."""

    __slots__ = ("anywhere", "base", "changes", "exact", "ranges", "thread")

    def __init__(self, thread: int, base: int) -> None:
        self.thread = thread
        self.base = base
        self.exact: dict[tuple[int, int], AbstractValue] = {}
        """(offset, size) -> values."""
        self.ranges: dict[tuple[Integers, int], AbstractValue] = {}
        """(offsets, size) -> values, for offsets that are not exact."""
        self.anywhere: AbstractValue | None = None
        self.changes: dict[object, int] = {}


@dataclass(eq=False, slots=True)
class Consulted:
    """What one interpretation of a thread has asked for."""

    bases: set[int] = field(default_factory=set)
    threads: set[int] = field(default_factory=set)
    """All that these wrote."""
    since: int = 0
    """When it began."""


class Interference:
    """The writes of all threads."""

    def __init__(self, pointer_bits: int, is_visible: bool = True) -> None:
        self._pointer_bits = pointer_bits
        self._writes: dict[int, dict[int, _Writes]] = {}
        """Base -> thread -> writes."""
        self.is_visible = is_visible
        """Do reads see it? Else each thread sees its own writes only."""
        self.clock = 0
        """How often anything that was written has grown."""
        self._grown: dict[int, dict[int, int]] = {}
        """Base -> thread -> when what it wrote there has grown last."""
        self.consulted = Consulted()
        self._writers: dict[int, int] = {}
        """Base -> bit set of the threads that write it."""
        self._reads: dict[int, dict[tuple[Integers, int, int, int], AbstractValue]] = {}
        """Base -> what reads of it gave since it was last written."""

    def consult(self) -> Consulted:
        """From now on, what is asked for is noted here."""
        self.consulted = Consulted(since=self.clock)
        return self.consulted

    def has_news(self, threads: int, consulted: Consulted) -> bool:
        """Have those threads (a bit set) written something new to what was asked for?"""
        if self.clock == consulted.since:
            return False
        bases = consulted.bases
        return any(
            when > consulted.since and threads >> thread & 1
            for base, grown in self._grown.items()
            for thread, when in grown.items()
            if base in bases or thread in consulted.threads
        )

    def _changed(self, writes: _Writes) -> None:
        self.clock += 1
        self._grown.setdefault(writes.base, {})[writes.thread] = self.clock
        self._reads.pop(writes.base, None)

    def add(
        self, thread: int, base: int, offsets: Integers, size: int | None, value: AbstractValue
    ) -> None:
        by_thread = self._writes.setdefault(base, {})
        writes = by_thread.get(thread)
        if writes is None:
            writes = by_thread[thread] = _Writes(thread, base)
            self._writers[base] = self._writers.get(base, 0) | 1 << thread
        if size is None or len(writes.exact) + len(writes.ranges) > _MOST_CELLS:
            self._add_anywhere(writes, domain.garbled(value, 8))
            return
        offset = offsets.signed_constant
        if offset is not None:
            self._grow(writes, writes.exact, (offset, size), value)
        else:
            self._grow(writes, writes.ranges, (offsets, size), value)

    def _grow(
        self,
        writes: _Writes,
        table: dict[tuple[int, int], AbstractValue] | dict[tuple[Integers, int], AbstractValue],
        key: tuple[int, int] | tuple[Integers, int],
        value: AbstractValue,
    ) -> None:
        old = table.get(key)  # type: ignore[arg-type]
        if old is None:
            table[key] = value  # type: ignore[index]
            self._changed(writes)
            return
        if domain.leq(value, old):
            return
        count = writes.changes.get(key, 0) + 1
        writes.changes[key] = count
        if count > _PATIENCE:
            new = domain.widen(old, value, (0,))
        else:
            new = domain.join(old, value)
        table[key] = new  # type: ignore[index]
        self._changed(writes)

    def _add_anywhere(self, writes: _Writes, value: AbstractValue) -> None:
        old = writes.anywhere
        if old is None:
            writes.anywhere = value
            self._changed(writes)
        elif not domain.leq(value, old):
            writes.anywhere = domain.join(old, value)
            self._changed(writes)

    def read(
        self, base: int, offsets: Integers, size: int, threads: int, bits: int
    ) -> AbstractValue:
        """What those threads (a bit set) may have written to the bytes; bottom if nothing."""
        self.consulted.bases.add(base)
        threads &= self._writers.get(base, 0)
        if not threads or not self.is_visible:
            return domain.BOTTOM
        reads = self._reads.setdefault(base, {})
        key = (offsets, size, threads, bits)
        found = reads.get(key)
        if found is None:
            found = reads[key] = self._read(base, offsets, size, threads, bits)
        return found

    def _read(
        self, base: int, offsets: Integers, size: int, threads: int, bits: int
    ) -> AbstractValue:
        result = domain.BOTTOM
        low, high = offsets.signed_range()
        for thread, writes in self._writes[base].items():
            if not threads >> thread & 1:
                continue
            for (start, length), value in writes.exact.items():
                if start < high + size and low < start + length:
                    result = domain.join(
                        result, self._seen(start, length, value, offsets, size, bits)
                    )
            for (starts, length), value in writes.ranges.items():
                first, last = starts.signed_range()
                if first < high + size and low < last + length:
                    if length == size and _aligned(starts, offsets, size):
                        seen = value
                    else:
                        seen = domain.garbled(value, bits)
                    result = domain.join(result, seen)
            if writes.anywhere is not None:
                result = domain.join(result, domain.garbled(writes.anywhere, bits))
        return result

    def _seen(
        self,
        start: int,
        length: int,
        value: AbstractValue,
        offsets: Integers,
        size: int,
        bits: int,
    ) -> AbstractValue:
        if length == size:
            if offsets.signed_constant == start:
                return value
            if offsets.contains(start & (1 << offsets.width) - 1) and _aligned(
                ints.constant(start, offsets.width), offsets, size
            ):
                return value
            if not _touches(offsets, start, length, size):
                return domain.BOTTOM
        return domain.garbled(value, bits)

    def has_writes(self, base: int, offsets: Integers, size: int, threads: int) -> bool:
        """Do those threads write any of the bytes?"""
        self.consulted.bases.add(base)
        if not threads & self._writers.get(base, 0):
            return False
        low, high = offsets.signed_range()
        for thread, writes in self._writes[base].items():
            if not threads >> thread & 1:
                continue
            if writes.anywhere is not None or writes.ranges:
                return True
            if any(start < high + size and low < start + n for start, n in writes.exact):
                return True
        return False

    def writes(self, base: int, threads: int) -> Iterator[tuple[Integers | None, int]]:
        """Where those threads write to a base: offsets (None: anywhere), and how many bytes."""
        self.consulted.bases.add(base)
        for thread, writes in self._writes.get(base, {}).items():
            if threads >> thread & 1:
                if writes.anywhere is not None:
                    yield None, 1
                for start, size in writes.exact:
                    yield ints.constant(start, self._pointer_bits), size
                for starts, size in writes.ranges:
                    yield starts, size

    def cells(self, base: int, threads: int) -> list[tuple[int | None, int, AbstractValue]]:
        """What those threads wrote to a base: (offset or None if unclear, size, value)."""
        found: list[tuple[int | None, int, AbstractValue]] = []
        self.consulted.bases.add(base)
        if not self.is_visible:
            return found
        for thread, writes in self._writes.get(base, {}).items():
            if threads >> thread & 1:
                found += [(start, size, v) for (start, size), v in writes.exact.items()]
                found += [(None, size, v) for (_, size), v in writes.ranges.items()]
                if writes.anywhere is not None:
                    found.append((None, 1, writes.anywhere))
        return found

    def of_thread(self, thread: int) -> list[tuple[int, Integers | None, int, AbstractValue]]:
        """All that a thread wrote: (base, offsets or None for anywhere, size, value)."""
        found: list[tuple[int, Integers | None, int, AbstractValue]] = []
        self.consulted.threads.add(thread)
        for base, by_thread in self._writes.items():
            writes = by_thread.get(thread)
            if writes is None:
                continue
            for (start, size), value in writes.exact.items():
                found.append((base, ints.constant(start, self._pointer_bits), size, value))
            for (starts, size), value in writes.ranges.items():
                found.append((base, starts, size, value))
            if writes.anywhere is not None:
                found.append((base, None, 1, writes.anywhere))
        return found


def _aligned(a: Integers, b: Integers, size: int) -> bool:
    """Are all distances between the two multiples of `size`, so that overlap means equality?"""
    low_a, _, stride_a = a.progression()
    low_b, _, stride_b = b.progression()
    return (low_a - low_b) % size == 0 and stride_a % size == 0 and stride_b % size == 0


def _touches(offsets: Integers, start: int, length: int, size: int) -> bool:
    numbers = offsets.signed_numbers(16)
    if numbers is None:
        return True
    return any(n < start + length and start < n + size for n in numbers)
