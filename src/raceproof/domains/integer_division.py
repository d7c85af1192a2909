"""What division does to sets of integers; see `integer_operations`. By zero it has no result."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from raceproof.domains.integers import (
    Integers,
    bottom,
    from_range,
    from_unsigned,
    signed,
)

NO_FLAGS: frozenset[str] = frozenset()


def ends_of(a: Integers, are_signed: bool) -> tuple[int, int, int]:
    """The progression in the wanted reading, if it has one there, else any with that range."""
    low, high, stride = a.progression()
    wanted = a.signed_range() if are_signed else a.unsigned_range()
    if (low, high) == wanted:
        return low, high, stride
    size = 1 << a.width
    for move in (size, -size):
        if (low + move, high + move) == wanted:
            return *wanted, stride
    if wanted[0] == wanted[1]:
        return *wanted, 0
    alignment = gcd(stride, size)
    low, high = wanted
    start = a.progression()[0]
    low += (start - low) % alignment
    return low, high - (high - low) % alignment, alignment


def _pairwise(a: Integers, b: Integers, operation: Callable[[int, int], int]) -> Integers | None:
    """Computed value by value if there are few, `b` without zero."""
    if a.values is None or b.values is None:
        return None
    width = a.width
    mask = (1 << width) - 1
    return from_unsigned({operation(x, y) & mask for x in a.values for y in b.values if y}, width)


def _signed_pairwise(
    a: Integers, b: Integers, operation: Callable[[int, int], int]
) -> Integers | None:
    if a.values is None or b.values is None:
        return None
    width = a.width
    mask = (1 << width) - 1
    left = [signed(v, width) for v in a.values]
    right = [signed(v, width) for v in b.values if v]
    return from_unsigned({operation(x, y) & mask for x in left for y in right}, width)


def _quotient(x: int, y: int) -> int:
    """Rounded towards zero."""
    return x // y if (x >= 0) == (y > 0) else -(-x // y)


def _remainder(x: int, y: int) -> int:
    """With the sign of `x`."""
    return abs(x) % abs(y) if x >= 0 else -(abs(x) % abs(y))


def udiv(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    small = _pairwise(a, b, int.__floordiv__)
    if small is not None:
        return small
    if a.values == () or b.values == () or b.values == (0,):
        return bottom(a.width)
    low, high, stride = ends_of(a, False)
    other_low, other_high = b.unsigned_range()
    other_low = max(other_low, 1)
    step = 1
    if other_low == other_high and stride % other_low == 0 and low % other_low == 0:
        step = stride // other_low
    return from_range(low // other_high, high // other_low, step or 1, a.width)


def urem(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    small = _pairwise(a, b, int.__mod__)
    if small is not None:
        return small
    if a.values == () or b.values == () or b.values == (0,):
        return bottom(a.width)
    low, high, stride = ends_of(a, False)
    other_low, other_high = b.unsigned_range()
    if high < other_low:
        return a
    if other_low == other_high:
        step = gcd(stride, other_low)
        start = low % step
        return from_range(
            start, start + (min(high, other_low - 1) - start) // step * step, step, a.width
        )
    return from_range(0, min(high, other_high - 1), 1, a.width)


def sdiv(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    small = _signed_pairwise(a, b, _quotient)
    if small is not None:
        return small
    if a.values == () or b.values == () or b.values == (0,):
        return bottom(a.width)
    low, high, stride = ends_of(a, True)
    other_low, other_high = b.signed_range()
    divisors = [d for d in (other_low, other_high) if d]
    divisors += [d for d in (-1, 1) if other_low <= d <= other_high]
    ends = [_quotient(x, y) for x in (low, high) for y in divisors]
    if other_low == other_high and stride % other_low == 0 and low % other_low == 0:
        step = abs(stride // other_low)
        return from_range(min(ends), max(ends), step or 1, a.width)
    if low < 0 < high:
        ends.append(0)
    return from_range(min(ends), max(ends), 1, a.width)


def srem(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    small = _signed_pairwise(a, b, _remainder)
    if small is not None:
        return small
    if a.values == () or b.values == () or b.values == (0,):
        return bottom(a.width)
    low, high = a.signed_range()
    other_low, other_high = b.signed_range()
    largest = max(abs(other_low), abs(other_high))
    if low >= 0 and other_low > 0:
        return urem(a, b)
    smallest = min(abs(other_low), abs(other_high)) if other_low * other_high > 0 else 1
    if max(abs(low), abs(high)) < smallest:
        return a
    return from_range(
        max(low, 1 - largest) if low < 0 else 0,
        min(high, largest - 1) if high > 0 else 0,
        1,
        a.width,
    )
