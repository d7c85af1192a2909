"""Finding the arrays in an object with many cells, to sum them up as regions.

Nothing says where the arrays are: cells that come again with some period, alike in size and in
whether they hold addresses, are taken for elements.
"""

from __future__ import annotations

from raceproof.domains.pieces import filler
from raceproof.domains.regions import Fields, Region, merged
from raceproof.domains.values import AbstractValue, join

Cell = tuple[int, AbstractValue]
Cells = dict[int, Cell]
"""Offset -> size and value. Never changed once in an object."""

LONG_RUN = 16
"""So many cells of one size at one distance make an array."""
_PERIODS = 64


def summed_up(
    cells: Cells, regions: tuple[Region, ...], background: AbstractValue
) -> tuple[Cells, tuple[Region, ...]]:
    """Fewer cells and more regions; the very same cells if there are no arrays."""
    order = sorted(cells)
    period = _period(cells, order)
    runs = [(period, order)] if period else _runs(cells, order)
    if not runs:
        return cells, regions
    rest = dict(cells)
    found = list(regions)
    for stride, offsets in runs:
        found = _add_region(stride, offsets, cells, found, background)
        for offset in offsets:
            del rest[offset]
    return rest, tuple(found)


def _shape(cell: Cell) -> tuple[int, bool]:
    return cell[0], bool(cell[1].pointers)


def _period(cells: Cells, order: list[int]) -> int:
    """The distance after which all cells come again, alike; 0 if there is none."""
    first = order[0]
    shape = _shape(cells[first])
    for other in order[1:_PERIODS]:
        period = other - first
        if _shape(cells[other]) == shape and _is_period(period, cells, order):
            return period
    return 0


def _is_period(period: int, cells: Cells, order: list[int]) -> bool:
    first = order[0]
    shapes: dict[int, tuple[int, bool]] = {}
    for offset in order:
        residue = (offset - first) % period
        shape = _shape(cells[offset])
        if shapes.setdefault(residue, shape) != shape:
            return False
    if len(order) < 4 * len(shapes):
        return False
    end = 0
    for residue in sorted(shapes):
        if residue < end:
            return False
        end = residue + shapes[residue][0]
    return end <= period


def _runs(cells: Cells, order: list[int]) -> list[tuple[int, list[int]]]:
    """Long runs of alike cells at equal distances: the distance and the offsets."""
    found = []
    start = 0
    while start < len(order) - 1:
        distance = order[start + 1] - order[start]
        shape = _shape(cells[order[start]])
        end = start + 1
        while (
            end < len(order)
            and order[end] - order[end - 1] == distance
            and _shape(cells[order[end]]) == shape
        ):
            end += 1
        if end - start >= LONG_RUN:
            found.append((distance, order[start:end]))
            start = end
        else:
            start = max(end - 1, start + 1)
    return found


def _add_region(
    stride: int,
    offsets: list[int],
    cells: Cells,
    regions: list[Region],
    background: AbstractValue,
) -> list[Region]:
    start = offsets[0]
    end = offsets[-1] + cells[offsets[-1]][0]
    fields: Fields = {}
    counts: dict[int, int] = {}
    covered = 0
    for offset in offsets:
        size, value = cells[offset]
        residue = (offset - start) % stride
        held = fields.get(residue)
        fields[residue] = (size, value if held is None else join(held[1], value))
        counts[residue] = counts.get(residue, 0) + 1
        covered += size
    touched = [region for region in regions if region.start < end and start < region.end]
    rest = [region for region in regions if region not in touched]
    region = Region(start, end, stride, fields, background)
    is_full = all(
        count == (end - start - residue - fields[residue][0]) // stride + 1
        for residue, count in counts.items()
    )
    if touched or not is_full:
        for other in touched:
            start, end = min(start, other.start), max(end, other.end)
        region = merged(start, end, [region, *touched], [filler(background)], join, stride)
    return sorted([*rest, region], key=lambda r: r.start)
