"""What floating-point operations compute: the one definition with numbers.

A value is a Python float. Results of 16 and 32 bits are rounded to their width. Wider formats
(`long double`) are held as doubles as long as that is exact; a result that a double cannot hold
raises `Unrepresentable`. A conversion to an integer type that the number does not fit is undefined.

Signed zeros, infinities, nan and denormals are as in IEEE 754, rounding is to nearest, ties to
even. All nans are one. Which bits a nan has is left open, so that asking for them as an integer has
no answer; in memory it lies as the quiet one without a sign.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from raceproof.semantics.edges import Undefined, Unrepresentable
from raceproof.semantics.integers import to_signed, wrap

_FORMATS: Final = {16: "<e", 32: "<f", 64: "<d"}
_DIGITS: Final = {16: 11, 32: 24, 64: 53}
"""Bits of the significand."""


# --- bits ------------------------------------------------------------


def round_float(bits: int, value: float) -> float:
    """The nearest number of that width."""
    if bits >= 64:
        return value
    try:
        return float(struct.unpack(_FORMATS[bits], struct.pack(_FORMATS[bits], value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def encode_float(bits: int, value: float) -> bytes:
    if bits in _FORMATS:
        return struct.pack(_FORMATS[bits], round_float(bits, value))
    if bits == 80:
        return _encode_extended(value)
    raise Unrepresentable(f"floating-point numbers of {bits} bits")


def decode_float(bits: int, data: bytes) -> float:
    if bits in _FORMATS:
        return float(struct.unpack(_FORMATS[bits], data[: bits // 8])[0])
    if bits == 80:
        return _decode_extended(data[:10])
    raise Unrepresentable(f"floating-point numbers of {bits} bits")


def float_bits(bits: int, value: float) -> int:
    """The bits as an integer; those of a nan are left open, also its sign."""
    if math.isnan(value):
        raise Unrepresentable("the bits of a nan")
    return int.from_bytes(encode_float(bits, value), "little")


def bits_float(bits: int, value: int) -> float:
    return decode_float(bits, value.to_bytes((bits + 7) // 8, "little"))


def _encode_extended(value: float) -> bytes:
    sign = 0x8000 if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return (0xC << 60).to_bytes(8, "little") + (0x7FFF | sign).to_bytes(2, "little")
    if math.isinf(value):
        return (8 << 60).to_bytes(8, "little") + (0x7FFF | sign).to_bytes(2, "little")
    if value == 0:
        return bytes(8) + sign.to_bytes(2, "little")
    fraction, exponent = math.frexp(abs(value))
    mantissa = int(fraction * (1 << 64))
    return mantissa.to_bytes(8, "little") + (exponent + 16382 | sign).to_bytes(2, "little")


def _decode_extended(data: bytes) -> float:
    mantissa = int.from_bytes(data[:8], "little")
    head = int.from_bytes(data[8:10], "little")
    sign = -1.0 if head & 0x8000 else 1.0
    exponent = head & 0x7FFF
    if exponent == 0x7FFF:
        return sign * (math.inf if mantissa << 1 & (1 << 64) - 1 == 0 else math.nan)
    power = exponent - 16383 - 63
    exact = Fraction(mantissa) * Fraction(2) ** power if -1200 < power < 1100 else None
    if exact is None and mantissa:
        raise Unrepresentable("a long double out of the range of a double")
    return sign * _as_double(exact or Fraction(0))


def _as_double(exact: Fraction) -> float:
    try:
        found = float(exact)
    except OverflowError as error:
        raise Unrepresentable("a long double out of the range of a double") from error
    if Fraction(found) != exact:
        raise Unrepresentable("a long double with more digits than a double")
    return found


def _exponent_of(size: Fraction) -> int:
    """The power of two below or at a positive number."""
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= size else exponent - 1


def rounded(number: Fraction | float, bits: int) -> float:
    """The nearest number of a width, ties to even; too large ones are infinite."""
    if isinstance(number, float):
        return number
    digits, least, most = (24, -149, 127) if bits == 32 else (53, -1074, 1023)
    size = abs(number)
    exponent = max(_exponent_of(size) - digits + 1, least)
    count = round(size / Fraction(2) ** exponent)
    found = math.inf if count.bit_length() + exponent - 1 > most else math.ldexp(count, exponent)
    return -found if number < 0 else found


# --- arithmetic ------------------------------------------------------------


def fdiv(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def frem(left: float, right: float) -> float:
    """The rest of a division rounded towards zero, as `fmod`."""
    if right == 0 or math.isinf(left):
        return math.nan
    return math.fmod(left, right)


ARITHMETIC: Final[dict[str, Callable[[float, float], float]]] = {
    "fadd": lambda a, b: a + b,
    "fsub": lambda a, b: a - b,
    "fmul": lambda a, b: a * b,
    "fdiv": fdiv,
    "frem": frem,
}
"""On doubles. Rounded once more for 32 bits this is still the nearest number, since a double has
more than twice the digits."""

_EXACT: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "fadd": lambda a, b: a + b,
    "fsub": lambda a, b: a - b,
    "fmul": lambda a, b: a * b,
    "fdiv": lambda a, b: a / b,
}


def binary(operation: str, bits: int, left: float, right: float) -> float:
    """An operation on numbers of that width."""
    result = ARITHMETIC[operation](left, right)
    if bits <= 64:
        return round_float(bits, result)
    if math.isfinite(left) and math.isfinite(right) and operation in _EXACT:
        if right != 0 or operation != "fdiv":
            exact = _as_double(_EXACT[operation](Fraction(left), Fraction(right)))
            return exact or result  # a zero has its sign from the operation on doubles
    return result


COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "one": lambda a, b: a < b or a > b,
    "ord": lambda a, b: a == a and b == b,
    "ueq": lambda a, b: not (a < b or a > b),
    "ugt": lambda a, b: not a <= b,
    "uge": lambda a, b: not a < b,
    "ult": lambda a, b: not a >= b,
    "ule": lambda a, b: not a > b,
    "une": lambda a, b: a != b,
    "uno": lambda a, b: not (a == a and b == b),
    "true": lambda a, b: True,
    "false": lambda a, b: False,
}


# --- conversions ------------------------------------------------------------


def to_float(value: int, bits: int) -> float:
    """The nearest number of that width to an integer, rounded once."""
    if bits > 64:
        return _as_double(Fraction(value))
    if bits == 64:
        return float(value)
    extra = abs(value).bit_length() - _DIGITS[bits] - 2
    if extra > 0:  # two bits more than fit, the last of them for all that follow
        kept = abs(value) >> extra
        kept |= kept << extra != abs(value)
        value = (kept if value >= 0 else -kept) << extra
    return round_float(bits, float(value))


def to_int(value: float, bits: int, is_signed: bool) -> int:
    """Rounded towards zero."""
    if not math.isfinite(value):
        raise Undefined(f"{value} as an integer")
    number = int(value)
    low, high = (-(1 << bits - 1), 1 << bits - 1) if is_signed else (0, 1 << bits)
    if not low <= number < high:
        raise Undefined(f"{value} as an integer of {bits} bits")
    return wrap(number, bits)


def to_int_saturated(value: float, bits: int, is_signed: bool) -> int:
    """The nearest integer that fits; 0 for nan."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if math.isnan(value):
        return 0
    number = (high if value > 0 else low) if math.isinf(value) else int(value)
    return wrap(min(max(number, low), high), bits)


def converted(
    operation: str, value: int | float, source_bits: int, target_bits: int
) -> int | float:
    """One of the casts from or to floating point."""
    match operation:
        case "sitofp":
            return to_float(to_signed(int(value), source_bits), target_bits)
        case "uitofp":
            return to_float(int(value), target_bits)
        case "fptosi" | "fptoui":
            return to_int(value, target_bits, operation == "fptosi")
        case "fptrunc" | "fpext":
            return round_float(target_bits, value)
    raise ValueError(operation)


# --- classes ------------------------------------------------------------

_NAN, _ZERO, _SUBNORMAL, _NORMAL, _INFINITE = 0x3, 0x40, 0x80, 0x100, 0x200
_MIRROR: Final = {_ZERO: 0x20, _SUBNORMAL: 0x10, _NORMAL: 0x8, _INFINITE: 0x4}
_SMALLEST: Final = {16: 2.0**-14, 32: 2.0**-126, 64: sys.float_info.min}
"""The smallest normal numbers; a wider format has none that a double could not hold as normal."""


def float_class(bits: int, value: float) -> int:
    """One bit for each class of numbers, as LLVM's `is.fpclass` counts them."""
    if math.isnan(value):
        return _NAN
    size = abs(value)
    found = _INFINITE if math.isinf(size) else _NORMAL
    if size == 0:
        found = _ZERO
    elif size < _SMALLEST.get(bits, 0):
        found = _SUBNORMAL
    return _MIRROR[found] if math.copysign(1, value) < 0 else found
