"""Comparing sets of integers, and what a comparison that holds says about its operands."""

from __future__ import annotations

from raceproof.domains.integers import (
    Integers,
    bottom,
    common_progression,
    from_range,
    from_unsigned,
    leq,
    meet,
    signed,
)

NEGATED = {
    "eq": "ne",
    "ne": "eq",
    "slt": "sge",
    "sge": "slt",
    "sgt": "sle",
    "sle": "sgt",
    "ult": "uge",
    "uge": "ult",
    "ugt": "ule",
    "ule": "ugt",
}
"""What holds when a predicate does not."""
SWAPPED = {
    "eq": "eq",
    "ne": "ne",
    "slt": "sgt",
    "sgt": "slt",
    "sle": "sge",
    "sge": "sle",
    "ult": "ugt",
    "ugt": "ult",
    "ule": "uge",
    "uge": "ule",
}
"""The predicate with its operands exchanged."""


def compare(predicate: str, a: Integers, b: Integers) -> bool | None:
    """Does `a predicate b` hold for all values (True), for none (False), or is it open (None)?

    Not for bottom.
    """
    if predicate == "eq":
        return _equal(a, b)
    if predicate == "ne":
        answer = _equal(a, b)
        return None if answer is None else not answer
    if predicate[0] == "s":
        low, high = a.signed_range()
        other_low, other_high = b.signed_range()
    else:
        low, high = a.unsigned_range()
        other_low, other_high = b.unsigned_range()
    kind = predicate[1:]
    if kind == "lt":
        return True if high < other_low else False if low >= other_high else None
    if kind == "le":
        return True if high <= other_low else False if low > other_high else None
    if kind == "gt":
        return True if low > other_high else False if high <= other_low else None
    return True if low >= other_high else False if high < other_low else None


def _equal(a: Integers, b: Integers) -> bool | None:
    values, other_values = a.values, b.values
    if values is not None and other_values is not None:
        if len(values) == 1 and len(other_values) == 1:
            return values[0] == other_values[0]
        return None if not set(values).isdisjoint(other_values) else False
    if values is not None:
        return None if any(map(b.contains, values)) else False
    if other_values is not None:
        return None if any(map(a.contains, other_values)) else False
    return None if _may_meet(a, b) else False


def _may_meet(a: Integers, b: Integers) -> bool:
    """May two progressions have a common value?"""
    size = 1 << a.width
    for move in (0, size, -size):
        low, high = max(a.low, b.low + move), min(a.high, b.high + move)
        if low <= high:
            shared = common_progression(a.low, a.stride, b.low + move, b.stride)
            if shared is not None:
                start, stride = shared
                if start + -((start - low) // stride) * stride <= high:
                    return True
    return False


def refine(predicate: str, a: Integers, b: Integers) -> tuple[Integers, Integers]:
    """The values of both for which `a predicate b` can hold; bottom if it cannot."""
    if a.values == () or b.values == ():
        return bottom(a.width), bottom(a.width)
    if predicate == "eq":
        shared = meet(a, b)
        return (shared if leq(shared, a) else a), (shared if leq(shared, b) else b)
    if predicate == "ne":
        return _without(a, b), _without(b, a)
    kind = predicate[1:]
    if kind in ("gt", "ge"):
        second, first = _ordered(b, a, kind == "gt", predicate[0] == "s")
        return first, second
    return _ordered(a, b, kind == "lt", predicate[0] == "s")


def _ordered(
    a: Integers, b: Integers, is_strict: bool, is_signed: bool
) -> tuple[Integers, Integers]:
    """For `a < b` (strict) or `a <= b`."""
    if is_signed:
        low, high = a.signed_range()
        other_low, other_high = b.signed_range()
    else:
        low, high = a.unsigned_range()
        other_low, other_high = b.unsigned_range()
    highest, lowest = other_high - is_strict, low + is_strict
    if highest < low:
        return bottom(a.width), bottom(a.width)
    smaller = a if high <= highest else within(a, low, highest, is_signed)
    larger = b if other_low >= lowest else within(b, lowest, other_high, is_signed)
    if smaller.values == () or larger.values == ():
        return bottom(a.width), bottom(a.width)
    return smaller, larger


def within(a: Integers, low: int, high: int, is_signed: bool) -> Integers:
    """The values of `a` from `low` to `high`, in the signed or unsigned reading."""
    width = a.width
    if a.values is not None:
        if is_signed:
            return from_unsigned({v for v in a.values if low <= signed(v, width) <= high}, width)
        return from_unsigned({v for v in a.values if low <= v <= high}, width)
    if a.low >= low and a.high <= high:
        return a
    if (a.high < 1 << (width - 1)) if is_signed else (a.low >= 0):
        start, stride = a.low, a.stride
        if start < low:
            start += (low - start + stride - 1) // stride * stride
        return from_range(start, high if high < a.high else a.high, stride, width)
    shared = meet(a, from_range(low, high, 1, width))
    return shared if leq(shared, a) else a


def _without(a: Integers, b: Integers) -> Integers:
    """`a` without the only value of `b`, if it has only one and that can be left out."""
    values = b.values
    if values is None or len(values) != 1:
        return a
    number = values[0]
    if a.values is not None:
        if number not in a.values:
            return a
        return from_unsigned({v for v in a.values if v != number}, a.width)
    low, high, stride = a.low, a.high, a.stride
    mask = (1 << a.width) - 1
    if low & mask == number:
        return from_range(low + stride, high, stride, a.width)
    if high & mask == number:
        return from_range(low, high - stride, stride, a.width)
    if number == 0 and high - low + stride == mask + 1 and low % stride == 0:
        return from_range(stride, mask + 1 - stride, stride, a.width)
    return a
