"""The memory of a program: which object holds what.

Memory knows nothing of threads. An absent object does not exist on any way to here: joined with
another memory it takes the other's contents, and reading it gives bottom. Each operation on bases
has a counterpart on addresses (`load`, `store`, `copy`, `fill`), which goes through all bases that
an address may point into; NULL and other integers in an address are left out, since using them is
undefined. What an unknown address may do is the caller's to say: `load` gives an unknown value, but
`store`, `copy` and `fill` only change the bases that are named.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from math import gcd

from raceproof.domains import copying, object_lattice
from raceproof.domains import integers as ints
from raceproof.domains.integers import Integers
from raceproof.domains.objects import FEW_OFFSETS, Contents, unknown
from raceproof.domains.persistent import IntMap
from raceproof.domains.pieces import filler
from raceproof.domains.values import BOTTOM, UNKNOWN, AbstractValue
from raceproof.domains.values import join as join_values


class Touched(set[int]):
    """Bases that were read or changed."""

    __slots__ = ("written",)

    def __init__(self) -> None:
        super().__init__()
        self.written: set[int] = set()
        """Those that may have been changed, even if they hold what they held."""

    def include(self, other: Touched) -> None:
        self.update(other)
        self.written |= other.written


class Memory:
    """Immutable; `EMPTY` is where to start."""

    __slots__ = ("objects", "touched")

    def __init__(self, objects: IntMap[Contents], touched: Touched | None = None) -> None:
        self.objects = objects
        self.touched = touched
        """Where the bases are noted that are read or changed, here and in all memories made
        from this one; joins and comparisons do not count."""

    def watched(self, touched: Touched | None) -> Memory:
        """The same memory, noting in another set."""
        return self if touched is self.touched else Memory(self.objects, touched)

    def __repr__(self) -> str:
        return "\n".join(f"{base}: {contents}" for base, contents in self.objects.items())

    # --- objects ------------------------------------------------------------

    def get(self, base: int) -> Contents | None:
        if self.touched is not None:
            self.touched.add(base)
        return self.objects.get(base)

    def items(self) -> Iterator[tuple[int, Contents]]:
        """All objects; nothing is noted."""
        return self.objects.items()

    def set(self, base: int, contents: Contents) -> Memory:
        """With these contents of a base: a new object, or one changed."""
        if self.touched is not None:
            self.touched.add(base)
            self.touched.written.add(base)
        return Memory(self.objects.set(base, contents), self.touched)

    def set_all(self, contents: Mapping[int, Contents | None]) -> Memory:
        """With these contents of many bases; None: without the object."""
        if not contents:
            return self
        if self.touched is not None:
            self.touched.update(contents)
            self.touched.written.update(contents)
        return Memory(self.objects.set_all({**contents}), self.touched)

    def forget(self, base: int) -> Memory:
        """Without an object: its life is over."""
        if self._writing(base) is None:
            return self
        return Memory(self.objects.set(base, None), self.touched)

    def _writing(self, base: int) -> Contents | None:
        """What is about to be changed."""
        if self.touched is not None:
            self.touched.add(base)
            self.touched.written.add(base)
        return self.objects.get(base)

    def havoc(self, base: int, byte: AbstractValue = UNKNOWN) -> Memory:
        """Every byte of the object may be anything, or anything that `byte` stands for."""
        contents = self.get(base)
        return self if contents is None else self.set(base, unknown(contents.size, byte))

    # --- one base ------------------------------------------------------------

    def read(self, base: int, offsets: Integers, size: int) -> AbstractValue:
        contents = self.get(base)
        return BOTTOM if contents is None else read(contents, offsets, size)

    def write(
        self, base: int, offsets: Integers, size: int, value: AbstractValue, is_strong: bool
    ) -> Memory:
        contents = self._writing(base)
        if contents is None:
            return self
        new = write(contents, offsets, size, value, is_strong)
        return self if new is contents else Memory(self.objects.set(base, new), self.touched)

    # --- addresses ------------------------------------------------------------

    def load(self, address: AbstractValue, size: int) -> AbstractValue:
        """What `size` bytes at an address may hold."""
        if address.is_unknown:
            return UNKNOWN
        result = BOTTOM
        for base, offsets in address.pointers.items():
            contents = self.get(base)
            if contents is not None:
                value = read(contents, offsets, size)
                result = value if result is BOTTOM else join_values(result, value)
        return result

    def store(
        self, address: AbstractValue, size: int, value: AbstractValue, weak: Container[int] = ()
    ) -> Memory:
        """A strong update if there is one object and one offset, else weak ones."""
        pointers = address.pointers
        is_strong = len(pointers) == 1 and not address.is_unknown
        memory = self
        for base, offsets in pointers.items():
            memory = memory.write(base, offsets, size, value, is_strong and base not in weak)
        return memory

    def fill(
        self,
        address: AbstractValue,
        byte: AbstractValue,
        sizes: Integers,
        weak: Container[int] = (),
    ) -> Memory:
        """`memset`: `sizes` bytes from an address on hold `byte` (a value of one byte)."""
        if sizes.values == ():
            return self
        is_strong = len(address.pointers) == 1 and not address.is_unknown
        memory = self
        for base, offsets in address.pointers.items():
            old = self._writing(base)
            if old is None:
                continue
            numbers = offsets.signed_numbers(FEW_OFFSETS)
            if numbers is None:
                new = _mixed_from(old, offsets, sizes, byte)
            else:
                parts = [copying.filled_partly(old, n, byte, sizes) for n in numbers]
                new = parts[0]
                for part in parts[1:]:
                    new = object_lattice.join(new, part)
                if base in weak or not is_strong:
                    new = object_lattice.join(old, new)
            if new is not old:
                memory = memory.set(base, new)
        return memory

    def copy(
        self,
        target: AbstractValue,
        source: AbstractValue,
        sizes: Integers,
        weak: Container[int] = (),
    ) -> Memory:
        """`memcpy`, `memmove`: `sizes` bytes from one address to another."""
        if sizes.values == () or (not source.pointers and not source.is_unknown):
            return self
        is_strong = len(target.pointers) == 1 and not target.is_unknown
        memory = self
        for base, offsets in target.pointers.items():
            old = self._writing(base)
            if old is None:
                continue
            new = self._copied(old, offsets, source, sizes)
            if new is not None and (base in weak or not is_strong):
                new = object_lattice.join(old, new)
            if new is not None and new is not old:
                memory = memory.set(base, new)
        return memory

    def _copied(
        self, old: Contents, offsets: Integers, source: AbstractValue, sizes: Integers
    ) -> Contents | None:
        """The contents of the target, whatever object is the source."""
        numbers = offsets.signed_numbers(FEW_OFFSETS)
        if source.is_unknown:
            if numbers is None or len(numbers) > 1:
                return _mixed_from(old, offsets, sizes, UNKNOWN)
            return copying.filled_partly(old, numbers[0], UNKNOWN, sizes)
        result: Contents | None = None
        for base, source_offsets in source.pointers.items():
            contents = self.get(base)
            if contents is None:
                continue
            source_numbers = source_offsets.signed_numbers(FEW_OFFSETS)
            if numbers is None or source_numbers is None:
                part = _mixed_from(old, offsets, sizes, contents.any_byte())
                result = part if result is None else object_lattice.join(result, part)
                continue
            for offset in numbers:
                for source_offset in source_numbers:
                    part = copying.copied_partly(old, offset, contents, source_offset, sizes)
                    result = part if result is None else object_lattice.join(result, part)
        return result

    # --- the lattice ------------------------------------------------------------

    def differences(self, other: Memory) -> list[tuple[int, Contents | None, Contents | None]]:
        """`(base, here, there)` wherever the two do not hold the same object."""
        return self.objects.differences(other.objects)

    def join(self, other: Memory) -> Memory:
        """`self` itself if it covers the other."""
        if self is other or self.objects is other.objects:
            return self
        objects = self.objects.merge(other.objects, object_lattice.join)
        return self if objects is self.objects else Memory(objects, self.touched)

    def widen(self, other: Memory, thresholds: tuple[int, ...] = ()) -> Memory:
        if self is other or self.objects is other.objects:
            return self
        objects = self.objects.merge(
            other.objects, lambda a, b: object_lattice.widen(a, b, thresholds)
        )
        return self if objects is self.objects else Memory(objects, self.touched)

    def leq(self, other: Memory) -> bool:
        return all(
            here is None or (there is not None and object_lattice.leq(here, there))
            for _, here, there in self.differences(other)
        )


EMPTY = Memory(IntMap())


def read(contents: Contents, offsets: Integers, size: int) -> AbstractValue:
    """`size` bytes at any of the offsets."""
    values = offsets.values
    if values is not None:
        width = offsets.width
        if len(values) == 1:
            return contents.read(ints.signed(values[0], width), size)
        result = BOTTOM
        for value in values:
            result = join_values(result, contents.read(ints.signed(value, width), size))
        return result
    low, high = offsets.signed_range()
    low, stride = _signed_start(offsets, low)
    return contents.read_range(low, high - (high - low) % stride, stride, size)


def write(
    contents: Contents, offsets: Integers, size: int, value: AbstractValue, is_strong: bool
) -> Contents:
    """`size` bytes at one of the offsets hold `value`, at the others what they held."""
    values = offsets.values
    if values is not None:
        width = offsets.width
        if len(values) == 1:
            return contents.write(ints.signed(values[0], width), size, value, is_strong)
        inside = [v for n in values if contents.holds(v := ints.signed(n, width), size)]
        for offset in inside:
            contents = contents.write(offset, size, value, is_strong and len(inside) == 1)
        return contents
    low, high = offsets.signed_range()
    low, stride = _signed_start(offsets, low)
    return contents.write_range(low, high - (high - low) % stride, stride, size, value)


def _signed_start(offsets: Integers, low: int) -> tuple[int, int]:
    """The first offset from `low` on, and the stride, in the signed reading."""
    if offsets.low == low:
        return low, offsets.stride
    alignment = gcd(offsets.stride, 1 << offsets.width)
    return low + (offsets.low - low) % alignment, alignment


def _mixed_from(old: Contents, offsets: Integers, sizes: Integers, byte: AbstractValue) -> Contents:
    """Any byte from the least offset on may have become `byte`, or stayed."""
    byte = filler(byte)
    low, high = offsets.signed_range()
    end = high + sizes.unsigned_range()[1]
    if old.size is None:
        return old.mixed_with(byte)
    low, end = max(low, 0), min(end, old.size)
    return old if low >= end else old.write_range(low, end - 1, 1, 1, byte)
