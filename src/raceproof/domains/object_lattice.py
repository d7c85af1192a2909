"""Join, widening and order of the contents of an object.

Where only one of two contents has a cell, the other is read there; but a cell that meets a field of
a region of the other goes into the region, so that joining in a loop comes to an end. Where cells
lie across each other, one cell of mixed bytes remains. The results keep their first argument's
identity if it covers the second.
"""

from __future__ import annotations

from functools import lru_cache

from raceproof.domains import values
from raceproof.domains.objects import MANY_CELLS, Contents
from raceproof.domains.pieces import filler, mixed_byte
from raceproof.domains.regions import Combine, Region, merged
from raceproof.domains.summaries import Cells
from raceproof.domains.values import AbstractValue

_Folded = list[tuple[int, int, AbstractValue]]


def join(a: Contents, b: Contents) -> Contents:
    return a if a is b else _joined(a, b)


@lru_cache(maxsize=1 << 13)
def _joined(a: Contents, b: Contents) -> Contents:
    """Remembered, by identity: the same two meet again and again, where the same two ways do."""
    return _merge(a, b, values.join)


def widen(a: Contents, b: Contents, thresholds: tuple[int, ...] = ()) -> Contents:
    if a is b:
        return a
    return _merge(a, b, lambda x, y: values.widen(x, y, thresholds))


def leq(a: Contents, b: Contents) -> bool:
    """Is everything that `a` may hold also in `b`? Sometimes no when it is."""
    return a is b or _merge(b, a, values.join) is b


def equal(a: Contents, b: Contents) -> bool:
    """Do both say the same, in the same way?"""
    if a is b:
        return True
    return (
        a.size == b.size
        and len(a.cells) == len(b.cells)
        and len(a.regions) == len(b.regions)
        and a.background == b.background
        and (a.cells is b.cells or a.cells == b.cells)
        and all(x is y or x.equals(y) for x, y in zip(a.regions, b.regions, strict=True))
    )


def without_integers(a: Contents) -> Contents:
    """An upper bound that knows only where addresses lie: any byte may be any number."""
    background = filler(values.join(a.background, values.any_integer(8)))
    cells = {
        offset: (size, values.join(value, values.any_integer(8 * size)))
        for offset, (size, value) in a.cells.items()
        if value.pointers or value.is_unknown
    }
    regions = []
    for region in a.regions:
        fields = {
            residue: (size, values.join(value, values.any_integer(8 * size)))
            for residue, (size, value) in region.fields.items()
            if value.pointers or value.is_unknown
        }
        rest = filler(values.join(region.background, values.any_integer(8)))
        if fields or rest.pointers or rest.is_unknown:
            stride = region.stride if fields else 1
            regions.append(Region(region.start, region.end, stride, fields, rest))
    return Contents(a.size, background, cells, tuple(regions))


def _merge(a: Contents, b: Contents, combine: Combine) -> Contents:
    background = a.background
    if background is not b.background:
        background = combine(background, b.background)
        if background is not a.background:
            background = filler(background)
            if background == a.background:
                background = a.background
    changed: Cells = {}
    folded: _Folded = []
    cells = a.cells
    order = a.sorted_offsets
    if cells is not b.cells:
        alike = 0
        for offset, cell in b.cells.items():
            mine = cells.get(offset)
            if mine is cell:
                alike += 1
            elif mine is not None and mine[0] == cell[0]:
                alike += 1
                new = combine(mine[1], cell[1])
                if new is not mine[1]:
                    changed[offset] = (cell[0], new)
        if alike == len(b.cells) == len(cells):
            if changed:
                cells = {**cells, **changed}
        else:
            cells, folded = _merge_cells(a, b, changed, combine, background is a.background)
            order = None
    regions = a.regions
    if folded or regions is not b.regions:
        regions = _merge_regions(a, b, folded, combine)
    size = a.size if a.size == b.size else None
    if cells is a.cells and regions is a.regions and background is a.background and size == a.size:
        return a
    result = Contents(size, background, cells, regions, order)
    if len(cells) > MANY_CELLS and len(cells) > len(a.cells):
        return result.collapsed()
    return result


def _merge_cells(
    a: Contents, b: Contents, changed: Cells, combine: Combine, is_kept: bool
) -> tuple[Cells, _Folded]:
    """The cells, and those that go into a region. Where both have a cell, it is in `changed` or
    stays as it is in `a`. `is_kept`: the background stays as it is in `a`."""
    result: Cells = {}
    folded: _Folded = []
    spans = {(offset, cell[0]) for offset, cell in a.cells.items()}
    spans.update((offset, cell[0]) for offset, cell in b.cells.items())
    cluster: list[tuple[int, int]] = []
    end = None
    for span in [*sorted(spans), None]:
        if span is not None and end is not None and span[0] < end:
            cluster.append(span)
            end = max(end, span[0] + span[1])
            continue
        if cluster and end is not None:
            _merge_cluster(a, b, cluster, end, changed, combine, result, folded, is_kept)
        if span is not None:
            cluster = [span]
            end = span[0] + span[1]
    if len(result) == len(a.cells) and all(
        a.cells.get(offset) is cell for offset, cell in result.items()
    ):
        return a.cells, folded
    return result, folded


def _merge_cluster(
    a: Contents,
    b: Contents,
    cluster: list[tuple[int, int]],
    end: int,
    changed: Cells,
    combine: Combine,
    result: Cells,
    folded: _Folded,
    is_kept: bool,
) -> None:
    offset = cluster[0][0]
    mine, theirs = a.cells.get(offset), b.cells.get(offset)
    if len(cluster) == 1 and mine is not None and theirs is not None:
        result[offset] = changed.get(offset, mine)
        return
    has_region = any(
        region.fields
        for contents, cell in ((a, mine), (b, theirs))
        if len(cluster) > 1 or cell is None
        for region in contents.regions_in(offset, end)
    )
    if has_region:
        for contents in (a, b):
            for start in contents.touched(offset, end):
                folded.append((start, *contents.cells[start]))
        return
    size = end - offset
    if is_kept and mine is None and theirs is not None and len(cluster) == 1:
        if not a.regions_in(offset, end) and not b.regions_in(offset, end):
            if values.leq(mixed_byte(theirs[1]), a.background):
                return
    old = a.read(offset, size)
    new = combine(old, b.read(offset, size))
    if mine is not None and mine[0] == size and new is old:
        result[offset] = mine
    else:
        result[offset] = (size, new)


def _merge_regions(
    a: Contents, b: Contents, folded: _Folded, combine: Combine
) -> tuple[Region, ...]:
    spans = [(r.start, r.end) for r in a.regions]
    spans += [(r.start, r.end) for r in b.regions]
    spans += [(offset, offset + size) for offset, size, _ in folded]
    groups: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if groups and start < groups[-1][1]:
            groups[-1] = (groups[-1][0], max(end, groups[-1][1]))
        else:
            groups.append((start, end))
    result = tuple(_merge_group(a, b, start, end, folded, combine) for start, end in groups)
    if len(result) == len(a.regions) and all(
        new is old for new, old in zip(result, a.regions, strict=True)
    ):
        return a.regions
    return result


def _merge_group(
    a: Contents, b: Contents, start: int, end: int, folded: _Folded, combine: Combine
) -> Region:
    mine, theirs = a.regions_in(start, end), b.regions_in(start, end)
    cells = [cell for cell in folded if start <= cell[0] < end]
    if not cells and len(mine) == len(theirs) == 1 and mine[0] is theirs[0]:
        return mine[0]
    backgrounds = [
        contents.background
        for contents, regions in ((a, mine), (b, theirs))
        if not _covers(contents, regions, start, end)
    ]
    region = merged(start, end, [*mine, *theirs], backgrounds, combine)
    for offset, size, value in cells:
        region = region.with_value(offset, size, value, combine)
    return mine[0] if len(mine) == 1 and region.equals(mine[0]) else region


def _covers(contents: Contents, regions: list[Region], start: int, end: int) -> bool:
    """Do regions and cells leave no byte to the background?"""
    covered = sum(region.end - region.start for region in regions)
    if covered < end - start:
        for offset in contents.touched(start, end):
            stop = offset + contents.cells[offset][0]
            if not any(region.start < stop and offset < region.end for region in regions):
                covered += min(stop, end) - max(offset, start)
    return covered >= end - start
