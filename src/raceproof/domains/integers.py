"""Sets of machine integers of one width.

Up to `LIMIT` values are kept exactly; more become an arithmetic progression `low, low + stride,
..., high` of mathematical integers that stand for their residues modulo 2**width. A progression
lies either in the signed range (`high < 2**(width-1)`) or in the unsigned one (`low >= 0`), so
`int i = -1 .. 40` and `unsigned u = 0 .. 3000000000` are both exact, and wrapping around means to
move a progression by 2**width, or, when it fits neither range, to keep only its alignment (what is
left of the stride modulo 2**width).

Values are immutable. Constants are interned. `join` and `widen` return their first argument itself
when it covers the second, so that `join(a, b) is a` tells whether anything changed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from math import gcd
from typing import Any

LIMIT = 8
"""Sets of at most so many values are exact."""
WIDEN_LIMIT = 4
"""A set that grows beyond so many values in a loop is widened."""


class Integers:
    """`values` (sorted, unsigned) if few, else None and `low`, `high`, `stride` count.

    Made by the functions of this module only, which keep it canonical.
    """

    __slots__ = ("high", "low", "stride", "value", "values", "width")

    def __init__(
        self, width: int, values: tuple[int, ...] | None, low: int, high: int, stride: int
    ) -> None:
        self.width = width
        self.values = values
        self.low = low
        self.high = high
        self.stride = stride
        self.value: Any = None
        """The abstract value that is just these integers (kept by `values.integer`)."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Integers):
            return NotImplemented
        return (
            self.values == other.values
            and self.width == other.width
            and self.low == other.low
            and self.high == other.high
            and self.stride == other.stride
        )

    def __hash__(self) -> int:
        return hash((self.width, self.values, self.low, self.high, self.stride))

    def __repr__(self) -> str:
        if self.values is not None:
            return "{" + ", ".join(str(signed(v, self.width)) for v in self.values) + "}"
        step = f" by {self.stride}" if self.stride != 1 else ""
        return f"[{self.low}..{self.high}{step}]:{self.width}"

    @property
    def is_bottom(self) -> bool:
        return self.values == ()

    @property
    def is_top(self) -> bool:
        if self.values is not None:
            return len(self.values) >> self.width == 1
        return self.stride == 1 and self.high - self.low == (1 << self.width) - 1

    @property
    def constant(self) -> int | None:
        """The only value, unsigned, if there is just one."""
        values = self.values
        return values[0] if values is not None and len(values) == 1 else None

    @property
    def signed_constant(self) -> int | None:
        values = self.values
        return signed(values[0], self.width) if values is not None and len(values) == 1 else None

    def contains(self, number: int) -> bool:
        number &= (1 << self.width) - 1
        if self.values is not None:
            return number in self.values
        if not self.low <= number <= self.high:
            number -= 1 << self.width
            if not self.low <= number <= self.high:
                return False
        return (number - self.low) % self.stride == 0

    def signed_range(self) -> tuple[int, int]:
        """Least and greatest value, signed. Not for bottom."""
        half = 1 << (self.width - 1)
        values = self.values
        if values is not None:
            if values[-1] < half:
                return values[0], values[-1]
            first = bisect_left(values, half)
            low = values[first] - 2 * half
            return low, (values[first - 1] if first else values[-1] - 2 * half)
        if self.high < half:
            return self.low, self.high
        return -half, half - 1

    def unsigned_range(self) -> tuple[int, int]:
        """Least and greatest value, unsigned. Not for bottom."""
        values = self.values
        if values is not None:
            return values[0], values[-1]
        if self.low >= 0:
            return self.low, self.high
        size = 1 << self.width
        if self.high < 0:
            return self.low + size, self.high + size
        return 0, size - 1

    def progression(self) -> tuple[int, int, int]:
        """`(low, high, stride)` around all values; `stride` is 0 for a constant. Not for bottom."""
        values = self.values
        if values is None:
            return self.low, self.high, self.stride
        low, high = values[0], values[-1]
        size = 1 << self.width
        half = size >> 1
        if low == high:
            if low >= half:
                low -= size
            return low, low, 0
        numbers: Iterable[int] = values
        if high >= half:
            signed_low, signed_high = self.signed_range()
            if signed_high - signed_low <= high - low:
                low, high = signed_low, signed_high
                numbers = [v - size if v >= half else v for v in values]
        return low, high, gcd(*[number - low for number in numbers])

    def count(self) -> int:
        if self.values is not None:
            return len(self.values)
        return (self.high - self.low) // self.stride + 1

    def signed_numbers(self, limit: int) -> list[int] | None:
        """All values, signed, if at most `limit`."""
        if self.values is not None:
            return [signed(v, self.width) for v in self.values]
        if self.count() > limit:
            return None
        numbers = range(self.low, self.high + 1, self.stride)
        if self.high < 1 << (self.width - 1):
            return list(numbers)
        return [signed(v, self.width) for v in numbers]


def signed(number: int, width: int) -> int:
    """The signed reading of an unsigned number."""
    return number - (1 << width) if number >> (width - 1) & 1 else number


# --- making them ------------------------------------------------------------

_constants: dict[int, dict[int, Integers]] = {}
_tops: dict[int, Integers] = {}
_bottoms: dict[int, Integers] = {}


def constant(number: int, width: int) -> Integers:
    """The set of one number, given signed or unsigned."""
    number &= (1 << width) - 1
    table = _constants.get(width)
    if table is None:
        table = _constants[width] = {}
    found = table.get(number)
    if found is None:
        found = table[number] = Integers(width, (number,), 0, 0, 0)
    return found


def top(width: int) -> Integers:
    found = _tops.get(width)
    if found is None:
        found = _tops[width] = _aligned(0, 1, width)
    return found


def bottom(width: int) -> Integers:
    found = _bottoms.get(width)
    if found is None:
        found = _bottoms[width] = Integers(width, (), 0, 0, 0)
    return found


def from_set(numbers: Iterable[int], width: int) -> Integers:
    """The numbers, signed or unsigned; exactly these if few, else a progression around them."""
    mask = (1 << width) - 1
    return from_unsigned({number & mask for number in numbers}, width)


def from_unsigned(numbers: set[int], width: int) -> Integers:
    """As `from_set`, for numbers known to be unsigned and of this width."""
    count = len(numbers)
    if count == 1:
        return constant(next(iter(numbers)), width)
    if count == 0:
        return bottom(width)
    found = Integers(width, tuple(sorted(numbers)), 0, 0, 0)
    if count <= LIMIT:
        return found
    return from_range(*found.progression(), width)


def from_range(low: int, high: int, stride: int, width: int) -> Integers:
    """`low, low + stride, ...` up to `high`, modulo 2**width; `low` and `high` as large as ever."""
    if low >= high:
        return constant(low, width) if low == high else bottom(width)
    size = 1 << width
    steps = (high - low) // stride
    if steps < LIMIT:
        return from_set([low + i * stride for i in range(steps + 1)], width)
    span = steps * stride
    if span + stride >= size and (span >= size or stride & (stride - 1) == 0):
        return _aligned(low, gcd(stride, size), width)
    half = size >> 1
    start = low & (size - 1)
    if start >= half:
        start -= size
    end = start + span
    if end >= half:
        if start < 0:
            start += size
            end += size
        if end >= size:
            return _aligned(low, gcd(stride, size), width)
    return Integers(width, None, start, end, stride)


def _aligned(number: int, alignment: int, width: int) -> Integers:
    """All integers equal to `number` modulo `alignment`, a power of two."""
    size = 1 << width
    half = size >> 1
    low = (number + half) % alignment - half
    count = size // alignment
    if count <= LIMIT:
        return from_set([low + i * alignment for i in range(count)], width)
    return Integers(width, None, low, low + (count - 1) * alignment, alignment)


# --- the lattice ------------------------------------------------------------


def leq(a: Integers, b: Integers) -> bool:
    """Is every value of `a` one of `b`?"""
    if a is b:
        return True
    if a.values is not None:
        if b.values is not None:
            return a.values == b.values or set(a.values).issubset(b.values)
        return all(map(b.contains, a.values))
    if b.values is not None:
        return False
    stride = b.stride
    if a.stride % stride:
        return False
    size = 1 << a.width
    if b.high - b.low + stride == size:
        return (a.low - b.low) % stride == 0
    for low in (a.low, a.low + size, a.low - size):
        if b.low <= low and low + a.high - a.low <= b.high:
            return (low - b.low) % stride == 0
    return False


def join(a: Integers, b: Integers) -> Integers:
    if a is b:
        return a
    if a.values is not None and b.values is not None:
        numbers = set(a.values)
        numbers.update(b.values)
        count = len(numbers)
        if count == len(a.values):
            return a
        if count == len(b.values):
            return b
        return from_unsigned(numbers, a.width)
    if leq(b, a):
        return a
    if leq(a, b):
        return b
    return _hull(a, b)


def _hull(a: Integers, b: Integers) -> Integers:
    width = a.width
    size = 1 << width
    half = size >> 1
    low, high, stride = a.progression()
    other_low, other_high, other_stride = b.progression()
    stride = gcd(stride, other_stride)
    best: tuple[int, int, int] | None = None
    for move in (0, size, -size):
        start, end = other_low + move, other_high + move
        hull_low, hull_high = min(low, start), max(high, end)
        fits = hull_low >= -half and (hull_high < half or (hull_low >= 0 and hull_high < size))
        if fits and (best is None or hull_high - hull_low < best[1] - best[0]):
            best = hull_low, hull_high, gcd(stride, start - low)
    if best is None:
        return _aligned(low, gcd(stride, other_low - low, size), width)
    return from_range(*best, width)


def widen(a: Integers, b: Integers, thresholds: tuple[int, ...] = ()) -> Integers:
    """An upper bound of both that, taken over and over, stops to grow.

    `thresholds` (sorted, signed) are the bounds to try before the ends of the range.
    """
    if a is b or leq(b, a):
        return a
    joined = join(a, b)
    if a.values == () or (joined.values is not None and len(joined.values) <= WIDEN_LIMIT):
        return joined
    width = a.width
    size = 1 << width
    half = size >> 1
    low, high, stride = joined.progression()
    old_low, old_high, _ = a.progression()
    if old_low < low:
        old_low, old_high = old_low + size, old_high + size
    elif old_high > high:
        old_low, old_high = old_low - size, old_high - size
    if low < old_low:
        bound = 0 if low >= 0 else -half
        index = bisect_right(thresholds, low)
        if index and thresholds[index - 1] > bound:
            bound = thresholds[index - 1]
        low -= (low - bound) // stride * stride
    if high > old_high:
        bound = half - 1 if high < half else size - 1
        index = bisect_left(thresholds, high)
        if index < len(thresholds) and thresholds[index] < bound:
            bound = thresholds[index]
        high += (bound - high) // stride * stride
    return from_range(low, high, stride, width)


def meet(a: Integers, b: Integers) -> Integers:
    """An upper bound of the common values; exact unless they lie in two pieces."""
    if a is b or leq(a, b):
        return a
    if a.values is not None:
        return from_unsigned({v for v in a.values if b.contains(v)}, a.width)
    if b.values is not None:
        return from_unsigned({v for v in b.values if a.contains(v)}, a.width)
    if leq(b, a):
        return b
    width = a.width
    size = 1 << width
    found: Integers | None = None
    for move in (0, size, -size):
        low, high = max(a.low, b.low + move), min(a.high, b.high + move)
        if low > high:
            continue
        shared = common_progression(a.low, a.stride, b.low + move, b.stride)
        if shared is None:
            continue
        start, stride = shared
        start += -((start - low) // stride) * stride
        piece = from_range(start, high - (high - start) % stride, stride, width)
        found = piece if found is None else join(found, piece)
    return bottom(width) if found is None else found


def common_progression(
    first: int, first_stride: int, second: int, second_stride: int
) -> tuple[int, int] | None:
    """The numbers equal to both modulo their strides: one of them and the stride between them."""
    divisor = gcd(first_stride, second_stride)
    if (second - first) % divisor:
        return None
    modulus = second_stride // divisor
    steps = (second - first) // divisor * pow(first_stride // divisor, -1, modulus) % modulus
    return first + first_stride * steps, first_stride * modulus
