"""What integer operations compute: the one definition with numbers.

Integers are kept unsigned, `0 <= value < 2**bits`. Operations that C and LLVM leave undefined for
some operands (division by zero, the one quotient that does not fit, a shift by the width or more)
raise `Undefined` for these: an execution ends there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from raceproof.semantics.edges import Undefined


def to_signed(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (value ^ half) - half


def wrap(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


# --- two operands ------------------------------------------------------------


def _divisor(right: int) -> None:
    if right == 0:
        raise Undefined("division by zero")


def udiv(left: int, right: int, bits: int) -> int:
    _divisor(right)
    return left // right


def urem(left: int, right: int, bits: int) -> int:
    _divisor(right)
    return left % right


def _signed_operands(left: int, right: int, bits: int) -> tuple[int, int]:
    _divisor(right)
    a, b = to_signed(left, bits), to_signed(right, bits)
    if b == -1 and left == 1 << (bits - 1):
        raise Undefined(f"a quotient that does not fit {bits} bits")
    return a, b


def sdiv(left: int, right: int, bits: int) -> int:
    """Rounded towards zero."""
    a, b = _signed_operands(left, right, bits)
    quotient = abs(a) // abs(b)
    return wrap(quotient if (a < 0) == (b < 0) else -quotient, bits)


def srem(left: int, right: int, bits: int) -> int:
    """With the sign of the left side."""
    a, b = _signed_operands(left, right, bits)
    rest = abs(a) % abs(b)
    return wrap(-rest if a < 0 else rest, bits)


def _check_shift(amount: int, bits: int) -> None:
    if amount >= bits:
        raise Undefined(f"a shift of {bits} bits by {amount}")


def shl(value: int, amount: int, bits: int) -> int:
    _check_shift(amount, bits)
    return wrap(value << amount, bits)


def lshr(value: int, amount: int, bits: int) -> int:
    _check_shift(amount, bits)
    return value >> amount


def ashr(value: int, amount: int, bits: int) -> int:
    _check_shift(amount, bits)
    return wrap(to_signed(value, bits) >> amount, bits)


BINARY: Final[dict[str, Callable[[int, int, int], int]]] = {
    "add": lambda a, b, bits: wrap(a + b, bits),
    "sub": lambda a, b, bits: wrap(a - b, bits),
    "mul": lambda a, b, bits: wrap(a * b, bits),
    "udiv": udiv,
    "sdiv": sdiv,
    "urem": urem,
    "srem": srem,
    "shl": shl,
    "lshr": lshr,
    "ashr": ashr,
    "and": lambda a, b, bits: a & b,
    "or": lambda a, b, bits: a | b,
    "xor": lambda a, b, bits: a ^ b,
}
COMPARE: Final[dict[str, Callable[[int, int, int], bool]]] = {
    "eq": lambda a, b, bits: a == b,
    "ne": lambda a, b, bits: a != b,
    "ugt": lambda a, b, bits: a > b,
    "uge": lambda a, b, bits: a >= b,
    "ult": lambda a, b, bits: a < b,
    "ule": lambda a, b, bits: a <= b,
    "sgt": lambda a, b, bits: to_signed(a, bits) > to_signed(b, bits),
    "sge": lambda a, b, bits: to_signed(a, bits) >= to_signed(b, bits),
    "slt": lambda a, b, bits: to_signed(a, bits) < to_signed(b, bits),
    "sle": lambda a, b, bits: to_signed(a, bits) <= to_signed(b, bits),
}


# --- atomic updates ------------------------------------------------------------

UPDATE: Final[dict[str, Callable[[int, int, int], int]]] = {
    **{name: BINARY[name] for name in ("add", "sub", "and", "or", "xor")},
    "xchg": lambda old, value, bits: value,
    "nand": lambda old, value, bits: wrap(~(old & value), bits),
    "max": lambda old, value, bits: old if COMPARE["sgt"](old, value, bits) else value,
    "min": lambda old, value, bits: old if COMPARE["slt"](old, value, bits) else value,
    "umax": lambda old, value, bits: max(old, value),
    "umin": lambda old, value, bits: min(old, value),
    "uinc_wrap": lambda old, value, bits: 0 if old >= value else old + 1,
    "udec_wrap": lambda old, value, bits: value if old == 0 or old > value else old - 1,
    "usub_cond": lambda old, value, bits: old - value if old >= value else old,
    "usub_sat": lambda old, value, bits: max(old - value, 0),
}
"""What an atomic read-modify-write stores."""
