"""What the bytes of one object hold.

Exact cells (offset -> size and value, not overlapping) come first, then regions of alike array
elements (see `regions`), then the background: what every other byte holds, be it zero, not
initialised, or unknown. An access at an exact offset works on one cell; one at any of many offsets
changes the cells it may touch and joins into a region.

Accesses that are surely outside of an object of known size are undefined: such a read gives bottom,
such a write changes nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from math import gcd

from raceproof.domains.pieces import (
    ZERO_BYTE,
    Piece,
    concatenate,
    extract,
    filler,
    fitted,
    mixed_byte,
    repeated,
)
from raceproof.domains.regions import Region, merged
from raceproof.domains.summaries import Cells, summed_up
from raceproof.domains.values import (
    BOTTOM,
    UNINITIALISED,
    UNKNOWN,
    AbstractValue,
    join,
)

MANY_CELLS = 64
"""With more cells than this, runs of alike ones are summed up."""
TOO_MANY_CELLS = 1024
FEW_OFFSETS = 8
"""So many offsets are worth treating one by one."""


class Contents:
    """Immutable."""

    __slots__ = (
        "_any_byte",
        "_reads",
        "background",
        "cells",
        "regions",
        "size",
        "sorted_offsets",
    )

    def __init__(
        self,
        size: int | None,
        background: AbstractValue,
        cells: Cells,
        regions: tuple[Region, ...] = (),
        sorted_offsets: list[int] | None = None,
    ) -> None:
        self.size = size
        self.background = background
        self.cells = cells
        self.regions = regions
        self.sorted_offsets = sorted_offsets
        self._any_byte: AbstractValue | None = None
        self._reads: dict[tuple[int, int, int, int], AbstractValue] | None = None
        """What reads of ranges gave: pointers that may point anywhere are followed often."""

    def __repr__(self) -> str:
        cells = ", ".join(f"{o}:{z}={v}" for o, (z, v) in sorted(self.cells.items()))
        return f"<{self.size} bytes: {cells}; {list(self.regions)}; else {self.background}>"

    @property
    def order(self) -> list[int]:
        """The offsets of the cells, ascending."""
        if self.sorted_offsets is None:
            self.sorted_offsets = sorted(self.cells)
        return self.sorted_offsets

    def touched(self, start: int, end: int) -> list[int]:
        """The offsets of the cells that share a byte with `start` to `end`."""
        if not self.cells:
            return []
        order = self.order
        first = bisect_right(order, start) - 1
        if first < 0 or order[first] + self.cells[order[first]][0] <= start:
            first += 1
        return order[first : bisect_left(order, end)]

    def regions_in(self, start: int, end: int) -> list[Region]:
        """The regions that share a byte with `start` to `end`."""
        return [r for r in self.regions if r.start < end and start < r.end]

    def holds(self, offset: int, size: int) -> bool:
        """Does an access lie inside the object, as far as that is known?"""
        return self.size is None or 0 <= offset <= self.size - size

    # --- reading ------------------------------------------------------------

    def read(self, offset: int, size: int) -> AbstractValue:
        """The value of `size` bytes at an exact offset."""
        cell = self.cells.get(offset)
        if cell is not None and cell[0] == size:
            return cell[1]
        if not self.holds(offset, size):
            return BOTTOM
        if not self.touched(offset, offset + size):
            regions = self.regions_in(offset, offset + size) if self.regions else ()
            if not regions:
                return repeated(self.background, size)
            region = regions[0]
            if region.start <= offset and offset + size <= region.end:
                return region.read(offset, size)
        return concatenate(self.pieces(offset, offset + size))

    def pieces(self, start: int, end: int) -> list[Piece]:
        """The bytes from `start` to `end`, by what holds them."""
        found: list[Piece] = []
        position = start
        for offset in self.touched(start, end):
            size, value = self.cells[offset]
            if offset > position:
                found += self._uncovered(position, offset)
                position = offset
            step = min(offset + size, end) - position
            found.append((step, extract(value, size, position - offset, step)))
            position += step
        if position < end:
            found += self._uncovered(position, end)
        return found

    def _uncovered(self, start: int, end: int) -> list[Piece]:
        """As `pieces`, where no cell lies."""
        found: list[Piece] = []
        position = start
        for region in self.regions_in(start, end):
            if region.start > position:
                length = region.start - position
                found.append((length, repeated(self.background, length)))
                position = region.start
            step = min(region.end, end) - position
            found.append((step, region.read(position, step)))
            position += step
        if position < end:
            found.append((end - position, repeated(self.background, end - position)))
        return found

    def read_range(self, low: int, high: int, stride: int, size: int) -> AbstractValue:
        """The value of `size` bytes at any of the offsets `low`, `low + stride`, ..., `high`."""
        if self._reads is None:
            self._reads = {}
        key = (low, high, stride, size)
        found = self._reads.get(key)
        if found is None:
            found = self._reads[key] = self._read_range(low, high, stride, size)
        return found

    def _read_range(self, low: int, high: int, stride: int, size: int) -> AbstractValue:
        clamped = self._clamp(low, high, stride, size)
        if clamped is None:
            return BOTTOM
        low, high = clamped
        if (high - low) // stride < FEW_OFFSETS:
            result = BOTTOM
            for offset in range(low, high + 1, stride):
                result = join(result, self.read(offset, size))
            return result
        end = high + size
        result = BOTTOM
        covered = 0
        is_mixed = False
        for offset in self.touched(low, end):
            length, value = self.cells[offset]
            covered += min(offset + length, end) - max(offset, low)
            match _hits(offset, length, low, high, stride, size):
                case "exact":
                    result = join(result, value)
                case "mixed":
                    is_mixed = True
                    result = join(result, repeated(mixed_byte(value), size))
            if result is UNKNOWN:
                return result
        for region in self.regions_in(low, end):
            covered += min(region.end, end) - max(region.start, low)
            result = join(result, region.read_many(low, stride, size))
            for border in (region.start, region.end):
                is_mixed = is_mixed or _crosses(border, low, high, stride, size)
        if covered < end - low:
            result = join(result, repeated(self.background, size))
        return repeated(mixed_byte(result), size) if is_mixed else result

    def _clamp(self, low: int, high: int, stride: int, size: int) -> tuple[int, int] | None:
        """The offsets that lie inside the object."""
        if self.size is not None:
            if low < 0:
                low += (-low + stride - 1) // stride * stride
            if high > self.size - size:
                high = self.size - size
            if low > high:
                return None
            high -= (high - low) % stride
        return low, high

    # --- writing ------------------------------------------------------------

    def write(self, offset: int, size: int, value: AbstractValue, is_strong: bool) -> Contents:
        """`size` bytes at an exact offset hold `value`; if not `is_strong`, or the old one."""
        cells = self.cells
        cell = cells.get(offset)
        integers = value.integers
        if integers is not None and integers.width != 8 * size:
            value = fitted(value, size)
        if cell is not None and cell[0] == size:
            old = cell[1]
            if not is_strong:
                value = join(old, value)
            if value is old or value == old:
                return self
            return Contents(
                self.size,
                self.background,
                {**cells, offset: (size, value)},
                self.regions,
                self.sorted_offsets,
            )
        if not self.holds(offset, size):
            return self
        if not is_strong:
            value = join(self.read(offset, size), value)
        new = dict(cells)
        for start in self.touched(offset, offset + size):
            length, held = new.pop(start)
            if start < offset:
                new[start] = (offset - start, extract(held, length, 0, offset - start))
            rest = start + length - offset - size
            if rest > 0:
                new[offset + size] = (rest, extract(held, length, length - rest, rest))
        new[offset] = (size, value)
        contents = Contents(self.size, self.background, new, self.regions)
        return contents if len(new) <= MANY_CELLS else contents.collapsed()

    def write_range(
        self, low: int, high: int, stride: int, size: int, value: AbstractValue
    ) -> Contents:
        """One of the offsets `low`, `low + stride`, ..., `high` may hold `value` now."""
        clamped = self._clamp(low, high, stride, size)
        if clamped is None:
            return self
        low, high = clamped
        value = fitted(value, size)
        steps = (high - low) // stride
        if steps < FEW_OFFSETS:
            contents = self
            for offset in range(low, high + 1, stride):
                contents = contents.write(offset, size, value, False)
            return contents
        end = high + size
        new: Cells = {}
        exact = 0
        for offset in self.touched(low, end):
            length, held = self.cells[offset]
            match _hits(offset, length, low, high, stride, size):
                case "exact":
                    exact += 1
                    joined = join(held, value)
                    if joined is not held:
                        new[offset] = (length, joined)
                case "mixed":
                    byte = join(mixed_byte(held), mixed_byte(value))
                    garbage = repeated(byte, length)
                    if garbage != held:
                        new[offset] = (length, garbage)
        cells = {**self.cells, **new} if new else self.cells
        regions = self.regions
        if exact <= steps:
            regions = self._with_region(low, end, stride, size, value)
        if cells is self.cells and regions is self.regions:
            return self
        return Contents(self.size, self.background, cells, regions, self.sorted_offsets)

    def _with_region(
        self, start: int, end: int, stride: int, size: int, value: AbstractValue
    ) -> tuple[Region, ...]:
        """The regions, `value` being joined in at `start`, `start + stride`, ..., before `end`."""
        touched = self.regions_in(start, end)
        if len(touched) == 1:
            region = touched[0]
            if region.start <= start and end <= region.end and region.fields:
                shared = gcd(region.stride, stride)
                if shared == region.stride:
                    new = region.with_value(start, size, value)
                    if new is region or new.equals(region):
                        return self.regions
                    return tuple(new if r is region else r for r in self.regions)
        offset = start
        for region in touched:
            start, end = min(start, region.start), max(end, region.end)
        covered = sum(region.end - region.start for region in touched)
        backgrounds = [self.background] if covered < end - start else []
        new = merged(start, end, touched, backgrounds, join, stride)
        new = new.with_value(offset, size, value)
        if len(touched) == 1 and new.equals(touched[0]):
            return self.regions
        rest = [region for region in self.regions if region not in touched]
        return tuple(sorted([*rest, new], key=_start))

    def fill(self, start: int, end: int, byte: AbstractValue) -> Contents:
        """All bytes from `start` to `end` hold `byte` (of one byte) for sure."""
        byte = filler(byte)
        if self.size is not None:
            start, end = max(start, 0), min(end, self.size)
        if start >= end:
            return self
        if self.size is not None and start == 0 and end == self.size:
            return Contents(self.size, byte, {})
        cleared = self.without(start, end)
        region = Region(start, end, 1, {}, byte)
        regions = tuple(sorted([*cleared.regions, region], key=_start))
        return Contents(self.size, self.background, cleared.cells, regions)

    def without(self, start: int, end: int) -> Contents:
        """No cells and regions from `start` to `end`."""
        cells = dict(self.cells)
        for offset in self.touched(start, end):
            length, held = cells.pop(offset)
            if offset < start:
                cells[offset] = (start - offset, extract(held, length, 0, start - offset))
            rest = offset + length - end
            if rest > 0:
                cells[end] = (rest, extract(held, length, length - rest, rest))
        regions: list[Region] = []
        for region in self.regions:
            if region.end <= start or end <= region.start:
                regions.append(region)
                continue
            if region.start < start:
                regions.append(region.cut(region.start, start))
            if end < region.end:
                regions.append(region.cut(end, region.end))
        return Contents(self.size, self.background, cells, tuple(regions))

    # --- summing up ------------------------------------------------------------

    def collapsed(self) -> Contents:
        """With runs of alike cells made regions; beyond all measure, everything one mixture."""
        cells, regions = summed_up(self.cells, self.regions, self.background)
        if len(cells) > TOO_MANY_CELLS:
            return Contents(self.size, self.any_byte(), {})
        return self if cells is self.cells else Contents(self.size, self.background, cells, regions)

    def mixed_with(self, byte: AbstractValue) -> Contents:
        """Any byte of the object may have become `byte`."""
        mixed = join(self.any_byte(), filler(byte))
        if mixed is self.background and not self.cells and not self.regions:
            return self
        return Contents(self.size, mixed, {})

    def any_byte(self, start: int | None = None, end: int | None = None) -> AbstractValue:
        """Any byte from `start` to `end`, or of all."""
        if start is not None and end is not None:
            return self._mixture(self.regions_in(start, end), self.touched(start, end))
        if self._any_byte is None:
            self._any_byte = self._mixture(self.regions, self.cells)
        return self._any_byte

    def _mixture(self, regions: Iterable[Region], offsets: Iterable[int]) -> AbstractValue:
        """Any byte of these regions and cells, or of the background."""
        byte = self.background
        for region in regions:
            byte = join(byte, region.background)
            for _, value in region.fields.values():
                byte = join(byte, mixed_byte(value))
        for offset in offsets:
            byte = join(byte, mixed_byte(self.cells[offset][1]))
        return byte


def _start(region: Region) -> int:
    return region.start


def _hits(offset: int, length: int, low: int, high: int, stride: int, size: int) -> str:
    """How accesses of `size` bytes at `low`, `low + stride`, ..., `high` meet a cell:
    `exact` (only the cell as a whole), `mixed` (parts of it), or not (empty)."""
    first = low
    if offset - size + 1 > low:
        first += (offset - size + 1 - low + stride - 1) // stride * stride
    if first > high or first >= offset + length:
        return ""
    if length == size and first == offset and stride >= size:
        return "exact"
    return "mixed"


def _crosses(border: int, low: int, high: int, stride: int, size: int) -> bool:
    """Does an access of `size` bytes at `low`, `low + stride`, ..., `high` cross a border?"""
    first = low
    if border - size + 1 > low:
        first += (border - size + 1 - low + stride - 1) // stride * stride
    return first <= high and first < border


def zeroed(size: int | None) -> Contents:
    return Contents(size, ZERO_BYTE, {})


def uninitialised(size: int | None) -> Contents:
    return Contents(size, UNINITIALISED, {})


def unknown(size: int | None, byte: AbstractValue = UNKNOWN) -> Contents:
    """Every byte may be anything; or `byte`, e.g. any integer but no address."""
    return Contents(size, filler(byte), {})
