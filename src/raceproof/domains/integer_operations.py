"""What machine arithmetic does to sets of integers.

Small sets are computed value by value; progressions by their ends, as mathematical integers that
`from_range` brings back into the machine's range. With `nsw` (no signed wrap) or `nuw` (no unsigned
wrap) the results that would overflow are left out, as undefined behaviour; else arithmetic wraps.
Division by zero has no result. A shift by the width or more may have any result.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from raceproof.domains.integer_division import NO_FLAGS as NO_FLAGS
from raceproof.domains.integer_division import ends_of, sdiv, srem, udiv, urem
from raceproof.domains.integers import (
    Integers,
    bottom,
    constant,
    from_range,
    from_unsigned,
    meet,
    signed,
    top,
)


def _without_overflow(
    numbers: set[int], width: int, flags: frozenset[str], are_signed: bool
) -> Integers:
    """The exact results (not yet wrapped) that the flags permit."""
    if are_signed and "nsw" in flags:
        half = 1 << (width - 1)
        numbers = {n for n in numbers if -half <= n < half}
    elif not are_signed and "nuw" in flags:
        numbers = {n for n in numbers if 0 <= n >> width < 1}
    mask = (1 << width) - 1
    return from_unsigned({n & mask for n in numbers}, width)


def _flagged(
    a: Integers, b: Integers, flags: frozenset[str], operation: Callable[[int, int], int]
) -> Integers | None:
    """Exact results of small sets under `nsw`/`nuw`; None if the sets are not small."""
    if a.values is None or b.values is None:
        return None
    width = a.width
    result: Integers | None = None
    if "nsw" in flags:
        left = [signed(v, width) for v in a.values]
        right = [signed(v, width) for v in b.values]
        numbers = {operation(x, y) for x in left for y in right}
        result = _without_overflow(numbers, width, flags, True)
    if "nuw" in flags:
        numbers = {operation(x, y) for x in a.values for y in b.values}
        unsigned = _without_overflow(numbers, width, flags, False)
        result = unsigned if result is None else meet(result, unsigned)
    return result


def _clamped(
    low: int, high: int, stride: int, width: int, flags: frozenset[str], signed_ends: bool
) -> Integers:
    """A progression of exact results, cut to what the flags permit."""
    stride = stride or 1
    if signed_ends and "nsw" in flags:
        half = 1 << (width - 1)
        if low < -half:
            low += (-half - low + stride - 1) // stride * stride
        high = min(high, half - 1)
    elif not signed_ends and "nuw" in flags:
        if low < 0:
            low += (-low + stride - 1) // stride * stride
        high = min(high, (1 << width) - 1)
    if low > high:
        return bottom(width)
    return from_range(low, high - (high - low) % stride, stride, width)


def add(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    width = a.width
    if flags and ("nsw" in flags or "nuw" in flags):
        return _add_flagged(a, b, flags)
    if a.values is not None and b.values is not None:
        mask = (1 << width) - 1
        if len(a.values) == 1 and len(b.values) == 1:
            return constant(a.values[0] + b.values[0], width)
        return from_unsigned({(x + y) & mask for x in a.values for y in b.values}, width)
    if a.values == () or b.values == ():
        return bottom(width)
    low, high, stride = a.progression()
    other_low, other_high, other_stride = b.progression()
    return from_range(low + other_low, high + other_high, gcd(stride, other_stride), width)


def _add_flagged(a: Integers, b: Integers, flags: frozenset[str]) -> Integers:
    small = _flagged(a, b, flags, int.__add__)
    if small is not None:
        return small
    if a.values == () or b.values == ():
        return bottom(a.width)
    is_signed = "nsw" in flags
    low, high, stride = ends_of(a, is_signed)
    other_low, other_high, other_stride = ends_of(b, is_signed)
    return _clamped(
        low + other_low, high + other_high, gcd(stride, other_stride), a.width, flags, is_signed
    )


def sub(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    width = a.width
    if flags and ("nsw" in flags or "nuw" in flags):
        return _sub_flagged(a, b, flags)
    if a.values is not None and b.values is not None:
        mask = (1 << width) - 1
        return from_unsigned({(x - y) & mask for x in a.values for y in b.values}, width)
    if a.values == () or b.values == ():
        return bottom(width)
    low, high, stride = a.progression()
    other_low, other_high, other_stride = b.progression()
    return from_range(low - other_high, high - other_low, gcd(stride, other_stride), width)


def _sub_flagged(a: Integers, b: Integers, flags: frozenset[str]) -> Integers:
    small = _flagged(a, b, flags, int.__sub__)
    if small is not None:
        return small
    if a.values == () or b.values == ():
        return bottom(a.width)
    is_signed = "nsw" in flags
    low, high, stride = ends_of(a, is_signed)
    other_low, other_high, other_stride = ends_of(b, is_signed)
    return _clamped(
        low - other_high, high - other_low, gcd(stride, other_stride), a.width, flags, is_signed
    )


def mul(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    width = a.width
    is_signed = "nsw" in flags
    if is_signed or "nuw" in flags:
        small = _flagged(a, b, flags, int.__mul__)
        if small is not None:
            return small
    if a.values is not None and b.values is not None:
        mask = (1 << width) - 1
        return from_unsigned({(x * y) & mask for x in a.values for y in b.values}, width)
    if a.values == () or b.values == ():
        return bottom(width)
    if is_signed or "nuw" in flags:
        low, high, stride = ends_of(a, is_signed)
        other_low, other_high, other_stride = ends_of(b, is_signed)
    else:
        low, high, stride = a.progression()
        other_low, other_high, other_stride = b.progression()
    corners = (low * other_low, low * other_high, high * other_low, high * other_high)
    step = gcd(low * other_stride, other_low * stride, stride * other_stride)
    if step == 0:
        return constant(corners[0], width)
    return _clamped(min(corners), max(corners), step, width, flags, is_signed)


# --- shifts ------------------------------------------------------------


def shl(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    width = a.width
    if a.values == () or b.values == ():
        return bottom(width)
    first, last = b.unsigned_range()
    if last >= width:
        return top(width)
    if a.values is not None and b.values is not None:
        mask = (1 << width) - 1
        return from_unsigned({(x << y) & mask for x in a.values for y in b.values}, width)
    if first == last:
        return mul(a, constant(1 << first, width)) if first < width else top(width)
    low, high, stride = a.progression()
    ends = (low << first, high << first, low << last, high << last)
    step = gcd(low << first, stride << first) or 1
    return from_range(min(ends), max(ends), step, width)


def lshr(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    width = a.width
    if a.values == () or b.values == ():
        return bottom(width)
    first, last = b.unsigned_range()
    if last >= width:
        return top(width)
    if a.values is not None and b.values is not None:
        return from_unsigned({x >> y for x in a.values for y in b.values}, width)
    if first == last:
        return udiv(a, constant(1 << first, width))
    low, high = a.unsigned_range()
    return from_range(low >> last, high >> first, 1, width)


def ashr(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    width = a.width
    if a.values == () or b.values == ():
        return bottom(width)
    first, last = b.unsigned_range()
    if last >= width:
        return top(width)
    if a.values is not None and b.values is not None:
        mask = (1 << width) - 1
        left = [signed(v, width) for v in a.values]
        return from_unsigned({(x >> y) & mask for x in left for y in b.values}, width)
    low, high, stride = ends_of(a, True)
    step = 1
    if first == last and stride % (1 << first) == 0:
        step = stride >> first or 1
    ends = (low >> first, low >> last, high >> first, high >> last)
    return from_range(min(ends), max(ends), step, width)


# --- bits ------------------------------------------------------------


def _known_low_bits(a: Integers) -> tuple[int, int]:
    """`(k, bits)`: the lowest k bits are the same in all values, namely `bits`."""
    low, _, stride = a.progression()
    size = gcd(stride, 1 << a.width)
    return size.bit_length() - 1, low & (size - 1)


def _bits_range(
    low: int, high: int, a: Integers, b: Integers, operation: Callable[[int, int], int]
) -> Integers:
    """Unsigned `low..high`, with the low bits that both operands know."""
    known, left = _known_low_bits(a)
    other_known, right = _known_low_bits(b)
    step = 1 << min(known, other_known)
    low += (operation(left, right) - low) % step
    return (
        from_range(low, high - (high - low) % step, step, a.width)
        if low <= high
        else bottom(a.width)
    )


def bit_and(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    if a.values is not None and b.values is not None:
        return from_unsigned({x & y for x in a.values for y in b.values}, a.width)
    if a.values == () or b.values == ():
        return bottom(a.width)
    if b.values is None or len(b.values) > 1:
        a, b = b, a
    if b.values is not None and len(b.values) == 1:
        return _masked(a, b.values[0])
    return _bits_range(0, min(a.unsigned_range()[1], b.unsigned_range()[1]), a, b, int.__and__)


def _masked(a: Integers, mask: int) -> Integers:
    """`a & mask` for a progression `a`."""
    width = a.width
    if mask == 0:
        return constant(0, width)
    trailing = (mask & -mask).bit_length() - 1
    upper = mask >> trailing
    low, high, stride = a.progression()
    if mask + (mask & -mask) == 1 << width:
        unit = 1 << trailing
        if stride % unit:
            stride = unit
        return from_range(low & -unit, high & -unit, stride, width)
    if upper & (upper + 1) == 0 and low >= 0 and high <= mask:
        unit = 1 << trailing
        return from_range(low & -unit, high & -unit, stride if stride % unit == 0 else unit, width)
    known, bits = _known_low_bits(a)
    step = max(1 << known, mask & -mask)
    start = bits & mask & (step - 1)
    highest = min(mask, a.unsigned_range()[1])
    if highest < start:
        return constant(start, width)
    return from_range(start, highest - (highest - start) % step, step, width)


def bit_or(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    if a.values is not None and b.values is not None:
        return from_unsigned({x | y for x in a.values for y in b.values}, a.width)
    if a.values == () or b.values == ():
        return bottom(a.width)
    if a.values is not None:
        a, b = b, a
    if b.values is not None and len(b.values) == 1:
        known, bits = _known_low_bits(a)
        if b.values[0] >> known == 0:
            return add(a, constant((bits | b.values[0]) - bits, a.width))
    low, high = a.unsigned_range()
    other_low, other_high = b.unsigned_range()
    bits = (1 << max(high.bit_length(), other_high.bit_length())) - 1
    return _bits_range(max(low, other_low), bits, a, b, int.__or__)


def bit_xor(a: Integers, b: Integers, flags: frozenset[str] = NO_FLAGS) -> Integers:
    if a.values is not None and b.values is not None:
        return from_unsigned({x ^ y for x in a.values for y in b.values}, a.width)
    if a.values == () or b.values == ():
        return bottom(a.width)
    if a.values is not None:
        a, b = b, a
    mask = (1 << a.width) - 1
    if b.values == (mask,):
        return sub(b, a)
    bits = max(a.unsigned_range()[1].bit_length(), b.unsigned_range()[1].bit_length())
    return _bits_range(0, (1 << bits) - 1, a, b, int.__xor__)


Operation = Callable[[Integers, Integers, frozenset[str]], Integers]

OPERATIONS: dict[str, Operation] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "udiv": udiv,
    "sdiv": sdiv,
    "urem": urem,
    "srem": srem,
    "shl": shl,
    "lshr": lshr,
    "ashr": ashr,
    "and": bit_and,
    "or": bit_or,
    "xor": bit_xor,
}


# --- other widths ------------------------------------------------------------


def trunc(a: Integers, width: int) -> Integers:
    if a.width == width:
        return a
    if a.values is not None:
        mask = (1 << width) - 1
        return from_unsigned({v & mask for v in a.values}, width)
    return from_range(a.low, a.high, a.stride, width)


def zext(a: Integers, width: int) -> Integers:
    if a.width == width:
        return a
    if a.values is not None:
        if len(a.values) == 1:
            return constant(a.values[0], width)
        return from_unsigned(set(a.values), width)
    if a.low >= 0:
        return from_range(a.low, a.high, a.stride, width)
    return from_range(*ends_of(a, False), width)


def sext(a: Integers, width: int) -> Integers:
    if a.width == width:
        return a
    if a.values is not None:
        mask = (1 << width) - 1
        return from_unsigned({signed(v, a.width) & mask for v in a.values}, width)
    if a.high < 1 << (a.width - 1):
        return from_range(a.low, a.high, a.stride, width)
    return from_range(*ends_of(a, True), width)
