"""Copying and filling ranges of bytes: `memcpy`, `memset`, struct assignment.

If the number of bytes is not known exactly, the bytes after the least number hold old or new
values, and a value that the copy may end inside of is a mixture of both.
"""

from __future__ import annotations

from math import gcd

from raceproof.domains.integers import Integers
from raceproof.domains.object_lattice import join
from raceproof.domains.objects import MANY_CELLS, Contents
from raceproof.domains.pieces import extract, mixed_byte, repeated
from raceproof.domains.regions import Fields, Region
from raceproof.domains.values import AbstractValue


def copied(
    target: Contents, offset: int, source: Contents, source_offset: int, size: int
) -> Contents:
    """`target` with `size` bytes of `source` at `offset`."""
    if size <= 0:
        return target
    if offset == source_offset == 0 and size == source.size == target.size:
        return Contents(
            size, source.background, source.cells, source.regions, source.sorted_offsets
        )
    end, source_end = offset + size, source_offset + size
    distance = offset - source_offset
    cleared = target.without(offset, end)
    cells = dict(cleared.cells)
    for start in source.touched(source_offset, source_end):
        length, value = source.cells[start]
        first, last = max(start, source_offset), min(start + length, source_end)
        cells[first + distance] = (
            last - first,
            extract(value, length, first - start, last - first),
        )
    regions = list(cleared.regions)
    position = source_offset
    for region in source.regions_in(source_offset, source_end):
        first, last = max(region.start, source_offset), min(region.end, source_end)
        if position < first:
            regions.append(Region(position, first, 1, {}, source.background).moved(distance))
        regions.append(region.cut(first, last).moved(distance))
        position = last
    if position < source_end:
        regions.append(Region(position, source_end, 1, {}, source.background).moved(distance))
    regions = [r for r in regions if r.fields or r.background != target.background]
    regions.sort(key=lambda r: r.start)
    result = Contents(target.size, target.background, cells, tuple(regions))
    return result if len(cells) <= MANY_CELLS else result.collapsed()


def copied_partly(
    target: Contents, offset: int, source: Contents, source_offset: int, sizes: Integers
) -> Contents:
    """As `copied`, for any number of bytes in `sizes`."""
    least, most = sizes.unsigned_range()
    room = _room(target, offset)
    source_room = _room(source, source_offset)
    if room is None or (source_room is not None and source_room < room):
        room = source_room
    if room is not None:
        most = min(most, room)
    elif sizes.constant is None and most > _extent(source, source_offset):
        return target.mixed_with(source.any_byte())
    if least > most:
        return target
    sure = copied(target, offset, source, source_offset, least)
    if least == most:
        return sure
    full = copied(target, offset, source, source_offset, most)
    return _cut(join(sure, full), offset, least, most, sizes)


def filled_partly(target: Contents, offset: int, byte: AbstractValue, sizes: Integers) -> Contents:
    """`sizes` bytes from `offset` on hold `byte`."""
    least, most = sizes.unsigned_range()
    room = _room(target, offset)
    if room is not None:
        most = min(most, room)
    if least > most:
        return target
    sure = target.fill(offset, offset + least, byte)
    if least == most:
        return sure
    if room is None and sizes.constant is None:
        return sure.mixed_with(byte)
    return _cut(join(sure, target.fill(offset, offset + most, byte)), offset, least, most, sizes)


def _extent(source: Contents, offset: int) -> int:
    """From `offset` to the last byte that is not mere background."""
    ends = [region.end for region in source.regions]
    if source.cells:
        last = source.order[-1]
        ends.append(last + source.cells[last][0])
    return max(ends, default=offset) - offset


def _room(contents: Contents, offset: int) -> int | None:
    return None if contents.size is None else max(contents.size - offset, 0)


def _cut(contents: Contents, offset: int, least: int, most: int, sizes: Integers) -> Contents:
    """Mixes the values that a copy of `sizes` bytes to `offset` may end inside of."""
    low, _, stride = sizes.progression()
    border = offset + low
    changed = {}
    for start in contents.touched(offset + least, offset + most):
        length, value = contents.cells[start]
        if _has_border(start, length, border, stride):
            changed[start] = (length, repeated(mixed_byte(value), length))
    regions = []
    for region in contents.regions:
        if region.start < offset + most and offset + least < region.end:
            step = gcd(stride, region.stride)
            fields: Fields = {
                residue: (
                    size,
                    repeated(mixed_byte(value), size)
                    if _has_border(region.start + residue, size, border, step)
                    else value,
                )
                for residue, (size, value) in region.fields.items()
            }
            region = Region(region.start, region.end, region.stride, fields, region.background)
        regions.append(region)
    cells = {**contents.cells, **changed} if changed else contents.cells
    return Contents(
        contents.size, contents.background, cells, tuple(regions), contents.sorted_offsets
    )


def _has_border(start: int, length: int, border: int, stride: int) -> bool:
    """Lies some `border + k * stride` strictly inside?"""
    return (border - start - 1) % stride + 1 < length
