"""How an object is cut into cells: one for each member, one for all elements of an array.

    struct { int n; struct { void *a, *b; } all[8]; } x;    cells at 0, 8 (all a) and 16 (all b)

`Shape.cell` maps an offset to the offset of its cell. Any function of the offset is sound, for
equal offsets get equal cells. What it must not do is part the elements that one variable index can
reach; where an index starts outside of the arrays that are known, the whole object is folded.
"""

from __future__ import annotations

from math import gcd

from raceproof.ir import ArrayType, DebugInfo, Layout, StructType, Type, VectorType

_MOST_ARRAYS = 64
_MOST_CELLS = 48
"""A pointer that walks through an object of unknown shape makes a cell at each step; from so many
on it is taken for an array."""
_FEW_ELEMENTS = 16

Array = tuple[int, int | None, int]
"""Start, end (None: open) and size of an element; inner arrays as in the first outer element."""


class Shape:
    __slots__ = ("arrays", "dormant", "offsets", "size", "stride")

    def __init__(self, size: int | None = None, arrays: tuple[Array, ...] = ()) -> None:
        self.size = size
        short = tuple(a for a in arrays if _is_short(a, arrays))
        self.arrays = tuple(a for a in arrays if a not in short)
        """Outer before inner."""
        self.dormant = short
        """Short arrays whose elements are told apart until an index is variable."""
        self.stride = 0
        """If not 0, cells at offsets equal modulo this are one."""
        self.offsets: set[int] = set()
        """Of the cells asked for."""

    def cell(self, offset: int) -> int | None:
        """The cell at an offset; None if it is outside of the object."""
        if self.size is not None and not 0 <= offset <= self.size:
            return None
        if offset < 0 and not self.stride:
            return None
        return self.canonical(offset)

    def canonical(self, offset: int) -> int:
        if offset != self.size:
            for start, end, element in self.arrays:
                if start <= offset and (end is None or offset < end):
                    offset = start + (offset - start) % element
        return offset % self.stride if self.stride else offset

    def moved(self, cell: int, distance: int) -> set[int]:
        """The cells that many bytes on from any byte that `cell` stands for.

        Bytes outside of the object are left out: no pointer may get there. Nor does one leave an
        array forwards, but from its start, where the struct around it may be meant; backwards it
        goes to an earlier element, or from any element to the struct that it is known to be in.
        """
        if self.stride:
            return {(cell + distance) % self.stride}
        found = set()
        straight = self.cell(cell + distance)
        if straight is not None:
            found.add(straight)
        if distance >= 0:
            return found
        for start, end, element in self.arrays:
            if start <= cell and (end is None or cell < end):
                if start <= cell + distance and (end is None or cell + distance < end):
                    continue
                found.add(self.canonical(start + (cell - start + distance) % element))
                if end is not None and (end - start) // element <= _FEW_ELEMENTS:
                    for other in range(cell + element, end, element):
                        place = self.cell(other + distance)
                        if place is not None:
                            found.add(place)
        return found

    def is_full(self) -> bool:
        """Has it more cells than objects of unknown shape should have?"""
        return self.size is None and not self.arrays and len(self.offsets) > _MOST_CELLS

    def holds_index(self, offset: int, scale: int) -> bool:
        """Does an index with this scale, from this cell on, stay inside of the cell?"""
        if self.stride and scale % self.stride == 0:
            return True
        return any(
            start <= offset and (end is None or offset < end) and scale % element == 0
            for start, end, element in self.arrays
        )

    def wake(self, offset: int, scale: int) -> bool:
        """A variable index goes on from this cell: does a short array become one cell by that?"""
        woken = [
            array
            for array in self.dormant
            if array[0] <= offset < (array[1] or 0) and scale % array[2] == 0
        ]
        self.dormant = tuple(array for array in self.dormant if array not in woken)
        self.arrays = tuple(sorted((*self.arrays, *woken), key=_extent, reverse=True))
        return bool(woken)

    def fold(self, stride: int) -> bool:
        """Makes offsets equal modulo `stride` one cell; returns whether that is news."""
        self.arrays, self.dormant = (*self.arrays, *self.dormant), ()
        stride = gcd(self.stride, stride, *(element for _, _, element in self.arrays))
        if stride == self.stride:
            return False
        self.stride = stride
        return True

    def places(self, cell: int) -> tuple[int, int | None, int]:
        """First offset, end (None: unknown) and distance of the bytes that a cell stands for; a
        distance of 0 means the first offset alone."""
        if self.stride:
            return cell % self.stride, self.size, self.stride
        strides = [a for a in self.arrays if a[0] <= cell and (a[1] is None or cell < a[1])]
        if not strides:
            return cell, cell, 0
        start, end, _ = strides[0]
        distance = gcd(*(element for _, _, element in strides))
        return start + (cell - start) % distance, end, distance


def _is_short(array: Array, all_: tuple[Array, ...]) -> bool:
    """A short array without arrays in its elements."""
    start, end, element = array
    if end is None or not 1 < (end - start) // element <= _FEW_ELEMENTS:
        return False
    later = all_[all_.index(array) + 1 :]
    return not any(start <= other[0] < start + element for other in later)


def _extent(array: Array) -> int:
    start, end, _ = array
    return 1 << 62 if end is None else end - start


def of_type(type_: Type, layout: Layout, count: int | None) -> Shape:
    """The shape of `count` objects of an IR type in a row; None: unknown how many."""
    element = layout.size(type_)
    arrays: list[Array] = []
    size: int | None = element
    if count is None or count > 1:
        size = None if count is None else count * element
        arrays.append((0, size, max(element, 1)))
    _add_arrays(type_, layout, 0, arrays)
    return Shape(size, tuple(arrays[:_MOST_ARRAYS]))


def _add_arrays(type_: Type, layout: Layout, at: int, arrays: list[Array]) -> None:
    if len(arrays) >= _MOST_ARRAYS:
        return
    match type_:
        case ArrayType(element=element, count=count) | VectorType(element=element, count=count):
            size = max(layout.size(element), 1)
            arrays.append((at, at + size * count if count else None, size))
            _add_arrays(element, layout, at, arrays)
        case StructType(fields=fields):
            for field, offset in zip(fields, layout.offsets(type_), strict=True):
                if field.is_aggregate:
                    _add_arrays(field, layout, at + offset, arrays)


def of_heap(debug: DebugInfo, pointee: str, size: int | None) -> Shape:
    """The shape of a heap object, by what the pointer that receives it points to."""
    element = debug.type(pointee).size if pointee else 0
    if element <= 0 or debug.type(pointee).kind in ("void", "function"):
        return Shape(size)
    arrays: list[Array] = []
    if size != element:
        arrays.append((0, size, element))
    _add_debug_arrays(debug, pointee, 0, arrays, 0)
    return Shape(size, tuple(arrays[:_MOST_ARRAYS]))


def _add_debug_arrays(debug: DebugInfo, key: str, at: int, arrays: list[Array], depth: int) -> None:
    if len(arrays) >= _MOST_ARRAYS or depth > 16:
        return
    type_ = debug.type(key)
    if type_.kind == "array":
        element = max(debug.type(type_.target).size, 1)
        is_open = not type_.counts or min(type_.counts) <= 1
        arrays.append((at, None if is_open else at + type_.size, element))
        _add_debug_arrays(debug, type_.target, at, arrays, depth + 1)
    elif type_.kind in ("struct", "union"):
        for member in type_.members:
            if type_.kind == "union" and _is_bytes(debug, member.type):
                continue
            _add_debug_arrays(debug, member.type, at + member.offset, arrays, depth + 1)


def _is_bytes(debug: DebugInfo, key: str) -> bool:
    """A char array: in a union only another view of the rest, as `__size` of a mutex."""
    type_ = debug.type(key)
    return type_.kind == "array" and debug.type(type_.target).size == 1
