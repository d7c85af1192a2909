"""Many alike elements of an array, summed up.

A region says of bytes `start` to `end` of an object: at every offset equal to `start + r` modulo
`stride` lies a value of the field `r`; bytes in no field hold the `background`. So in

    struct { int key; void *data; } table[1000];

the keys of all elements are one value and their data another. A field lies within one stride;
what does not fit becomes background, byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import gcd

from raceproof.domains.pieces import Piece, concatenate, extract, filler, mixed_byte, repeated
from raceproof.domains.values import AbstractValue, join, leq

Combine = Callable[[AbstractValue, AbstractValue], AbstractValue]
Fields = dict[int, tuple[int, AbstractValue]]
"""Residue -> size and value."""
MANY_TURNS = 64
"""So many residues are worth looking at one by one."""


class Region:
    __slots__ = ("background", "end", "fields", "start", "stride")

    def __init__(
        self, start: int, end: int, stride: int, fields: Fields, background: AbstractValue
    ) -> None:
        self.start = start
        self.end = end
        self.stride = stride
        self.fields = fields
        self.background = background

    def __repr__(self) -> str:
        fields = ", ".join(f"{r}:{z}={v}" for r, (z, v) in sorted(self.fields.items()))
        return f"[{self.start}..{self.end}) by {self.stride}: {fields} else {self.background}"

    def equals(self, other: Region) -> bool:
        return self is other or (
            self.start == other.start
            and self.end == other.end
            and self.stride == other.stride
            and self.background == other.background
            and self.fields == other.fields
        )

    def moved(self, distance: int) -> Region:
        return Region(
            self.start + distance, self.end + distance, self.stride, self.fields, self.background
        )

    def cut(self, start: int, end: int) -> Region:
        """The part from `start` to `end`, which lie inside."""
        if start == self.start or not self.fields:
            return Region(start, end, self.stride, self.fields, self.background)
        region = Region(start, end, self.stride, {}, self.background)
        shift = self.start - start
        wrapped = []
        for residue, (size, value) in self.fields.items():
            place = (residue + shift) % self.stride
            if place + size <= self.stride:
                region.fields[place] = (size, value)
            else:
                wrapped += [(place, self.stride - place, value), (0, size, value)]
        for place, size, value in wrapped:
            room = min(size, self.stride - place)
            _garble(region.fields, place, room, value, self.background)
        return region

    def read(self, offset: int, size: int) -> AbstractValue:
        """The bytes at one offset; they lie inside."""
        residue = (offset - self.start) % self.stride
        field = self.fields.get(residue)
        if field is not None and field[0] == size:
            return field[1]
        if not self.fields:
            return repeated(self.background, size)
        return concatenate(self._pieces(residue, size))

    def _pieces(self, residue: int, size: int) -> list[Piece]:
        pieces: list[Piece] = []
        order = sorted(self.fields)
        stride = self.stride
        while size > 0:
            step = 0
            for start in order:
                length, value = self.fields[start]
                if start <= residue < start + length:
                    step = min(start + length - residue, size)
                    pieces.append((step, extract(value, length, residue - start, step)))
                    break
                if start > residue:
                    step = min(start - residue, size)
                    pieces.append((step, repeated(self.background, step)))
                    break
            if not step:
                step = min(stride - residue, size)
                pieces.append((step, repeated(self.background, step)))
            residue = (residue + step) % stride
            size -= step
        return pieces

    def read_many(self, offset: int, step: int, size: int) -> AbstractValue:
        """The bytes at any of the offsets `offset + k * step`."""
        shared = gcd(step, self.stride)
        turns = self.stride // shared
        result = self.read(offset, size)
        if turns > MANY_TURNS:
            byte = self.background
            for _, value in self.fields.values():
                byte = join(byte, mixed_byte(value))
            return repeated(byte, size)
        for turn in range(1, turns):
            result = join(result, self.read(offset + turn * shared, size))
        return result

    def with_value(
        self, offset: int, size: int, value: AbstractValue, combine: Combine = join
    ) -> Region:
        """A region that may also hold this value at this offset (modulo the stride)."""
        residue = (offset - self.start) % self.stride
        field = self.fields.get(residue)
        if field is not None and field[0] == size:
            new = combine(field[1], value)
            if new is field[1]:
                return self
            fields = {**self.fields, residue: (size, new)}
            return _canonical(self.start, self.end, self.stride, fields, self.background)
        if residue + size > self.stride:
            return self.melted(value)
        fields = dict(self.fields)
        if overlapping(fields, residue, size):
            _garble(fields, residue, size, value, self.background)
        else:
            fields[residue] = (size, combine(repeated(self.background, size), value))
        return _canonical(self.start, self.end, self.stride, fields, self.background)

    def melted(self, value: AbstractValue) -> Region:
        """All fields and this value become background."""
        background = join(self.background, mixed_byte(value))
        for _, held in self.fields.values():
            background = join(background, mixed_byte(held))
        return Region(self.start, self.end, 1, {}, background)


def overlapping(fields: Fields, residue: int, size: int) -> bool:
    return any(
        start < residue + size and residue < start + length for start, (length, _) in fields.items()
    )


def _garble(
    fields: Fields, residue: int, size: int, value: AbstractValue, background: AbstractValue
) -> None:
    """Puts a value where others lie: what it overlaps becomes one field of mixed bytes."""
    low, high = residue, residue + size
    byte = join(mixed_byte(value), background)
    again = True
    while again:
        again = False
        for start, (length, held) in list(fields.items()):
            if start < high and low < start + length:
                low, high = min(low, start), max(high, start + length)
                byte = join(byte, mixed_byte(held))
                del fields[start]
                again = True
    fields[low] = (high - low, repeated(byte, high - low))


def merged(
    start: int,
    end: int,
    regions: Iterable[Region],
    backgrounds: Iterable[AbstractValue],
    combine: Combine,
    stride: int = 0,
) -> Region:
    """One region for all these, and for plain bytes with these backgrounds.

    The fields of the first region are the first arguments of `combine`.
    """
    regions = list(regions)
    backgrounds = list(backgrounds)
    stride = gcd(stride, *(region.stride for region in regions if region.fields))
    if not stride:
        stride = regions[0].stride if regions else 1
    background: AbstractValue | None = None
    for byte in (*(region.background for region in regions), *backgrounds):
        background = byte if background is None else combine(background, filler(byte))
    assert background is not None
    background = filler(background)
    fields: Fields = {}
    counts: dict[int, int] = {}
    conflicts: list[tuple[int, int, AbstractValue]] = []
    total = 0
    melted: list[AbstractValue] = []
    for region in regions:
        total += max(region.stride // stride, 1) if region.fields else 1
        for residue, (size, value) in region.fields.items():
            place = (residue + region.start - start) % stride
            held = fields.get(place)
            if place + size > stride:
                melted.append(value)
            elif held is not None and held[0] == size:
                new = combine(held[1], value)
                if new is not held[1]:
                    fields[place] = (size, new)
                counts[place] += 1
            elif overlapping(fields, place, size):
                conflicts.append((place, size, value))
            else:
                fields[place] = (size, value)
                counts[place] = 1
    for place, (size, value) in list(fields.items()):
        if counts[place] < total or backgrounds:
            new = combine(value, repeated(background, size))
            if new is not value:
                fields[place] = (size, new)
    for place, size, value in conflicts:
        if overlapping(fields, place, size):
            _garble(fields, place, size, value, background)
        else:
            fields[place] = (size, join(value, repeated(background, size)))
    if melted:
        result = Region(start, end, stride, fields, background)
        for value in melted:
            result = result.melted(value)
        return result
    return _canonical(start, end, stride, fields, background)


def _canonical(
    start: int, end: int, stride: int, fields: Fields, background: AbstractValue
) -> Region:
    """Without fields that say no more than the background does. Takes the fields over."""
    for residue, (size, value) in list(fields.items()):
        if leq(value, repeated(background, size)):
            del fields[residue]
        elif stride == size == 1:
            del fields[residue]
            background = filler(value)
    return Region(start, end, stride if fields else 1, fields, background)
