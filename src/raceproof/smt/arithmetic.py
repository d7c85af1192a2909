"""What bit-vector operations do to numbers: unsigned in, and to be cut to the width after."""

from __future__ import annotations

from collections.abc import Callable


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def _udiv(a: int, b: int, width: int) -> int:
    return a // b if b else (1 << width) - 1


def _urem(a: int, b: int, width: int) -> int:
    return a % b if b else a


def _sdiv(a: int, b: int, width: int) -> int:
    x, y = signed(a, width), signed(b, width)
    if y == 0:
        return 1 if x < 0 else (1 << width) - 1
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _srem(a: int, b: int, width: int) -> int:
    x, y = signed(a, width), signed(b, width)
    if y == 0:
        return a
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


FOLD: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul": lambda a, b, w: a * b,
    "udiv": _udiv,
    "urem": _urem,
    "sdiv": _sdiv,
    "srem": _srem,
    "shl": lambda a, b, w: a << b if b < w else 0,
    "lshr": lambda a, b, w: a >> b if b < w else 0,
    "ashr": lambda a, b, w: signed(a, w) >> min(b, w - 1),
    "bvand": lambda a, b, w: a & b,
    "bvor": lambda a, b, w: a | b,
    "bvxor": lambda a, b, w: a ^ b,
}
COMPARE: dict[str, Callable[[int, int, int], bool]] = {
    "ult": lambda a, b, w: a < b,
    "ule": lambda a, b, w: a <= b,
    "slt": lambda a, b, w: signed(a, w) < signed(b, w),
    "sle": lambda a, b, w: signed(a, w) <= signed(b, w),
}
