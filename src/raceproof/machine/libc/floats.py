"""The functions of <math.h>, and floating-point numbers from text.

A `long double` is kept as a double. What is computed on one is the same as long as it fits into a
double exactly; where it may not, the execution is not exact any more (`Machine.note_inexact`).
`errno` is set as glibc does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from raceproof.machine.libc.numbers import (
    RANGE_ERROR,
    Character,
    given_text,
    narrow_text,
    skip_spaces,
    wide_text,
)
from raceproof.machine.libc.registry import FUNCTIONS, library
from raceproof.semantics.floats import (
    bits_float,
    encode_float,
    float_bits,
    round_float,
    rounded,
)
from raceproof.semantics.integers import to_signed
from raceproof.semantics.mathematics import (
    DOMAIN_ERROR,
    MATH,
    ROUNDINGS,
    away,
    guarded,
    log_gamma,
    outcome,
    scaled,
)

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

# --- from text ---

_WORDS = ("infinity", "inf", "nan")


def parse_float(character: Character) -> tuple[Fraction | float, int]:
    """The number at the start, exactly, and how many characters it takes (0 if there is none)."""
    place = skip_spaces(character)
    sign = character(place)
    if sign in b"+-" and sign:
        place += 1
    for word in _WORDS:
        if all(character(place + i) | 32 == ord(c) for i, c in enumerate(word)):
            place += len(word)
            value = math.inf if word != "nan" else math.nan
            if word == "nan":
                place = _after_payload(character, place)
            return (-value if sign == 45 else value), place
    number, place, is_number = _magnitude(character, place)
    if not is_number:
        return 0.0, 0
    if not number:
        return (-0.0 if sign == 45 else 0.0), place
    return (-number if sign == 45 else number), place


def _after_payload(character: Character, place: int) -> int:
    """`nan(...)`."""
    if character(place) != 40:
        return place
    end = place + 1
    while character(end) == 95 or (character(end) < 128 and chr(character(end)).isalnum()):
        end += 1
    return end + 1 if character(end) == 41 else place


def _magnitude(character: Character, place: int) -> tuple[Fraction, int, bool]:
    base, letter, scale = 10, 101, Fraction(10)
    if character(place) == 48 and character(place + 1) | 32 == 120:
        following = character(place + 2)
        if _value(following, 16) >= 0 or (
            following == 46 and _value(character(place + 3), 16) >= 0
        ):
            base, letter, scale, place = 16, 112, Fraction(2), place + 2
    digits = mantissa = behind = 0
    has_point = False
    while True:
        c = character(place)
        if c == 46 and not has_point:
            has_point = True
        elif (digit := _value(c, base)) >= 0:
            mantissa, digits, behind = mantissa * base + digit, digits + 1, behind + has_point
        else:
            break
        place += 1
    if not digits:
        return Fraction(0), place, False
    exponent, place = _exponent(character, place, letter)
    if mantissa and abs(exponent) > 100_000:
        exponent = 100_000 if exponent > 0 else -100_000
    return Fraction(mantissa) / Fraction(base) ** behind * scale**exponent, place, True


def _exponent(character: Character, place: int, letter: int) -> tuple[int, int]:
    if character(place) | 32 != letter:
        return 0, place
    start = place + 1
    sign = character(start)
    if sign in b"+-" and sign:
        start += 1
    end, value = start, 0
    while 48 <= character(end) <= 57:
        value = value * 10 + character(end) - 48
        end += 1
    if end == start:
        return 0, place
    return (-value if sign == 45 else value), end


def _value(c: int, base: int) -> int:
    if 48 <= c <= 57:
        return c - 48
    return (c | 32) - 87 if base == 16 and 97 <= c | 32 <= 102 and c < 128 else -1


def _from_text(bits: int, text_of: Callable[..., Character], width: int) -> Callable[..., float]:
    def convert(m: Machine, text: int, end: int, *_: Any) -> float:
        number, length = parse_float(text_of(m, text))
        if end:
            m.write_pointer(end, text + length * width)
        return _stored(m, number, bits)

    return convert


def _stored(m: Machine, number: Fraction | float, bits: int) -> float:
    value = rounded(number, bits)
    if isinstance(number, Fraction):
        if bits == 80 and (math.isinf(value) or Fraction(value) != number):
            m.note_inexact("a long double")
        tiny = abs(value) < (2.0**-126 if bits == 32 else 2.0**-1022)
        is_exact = math.isfinite(value) and Fraction(value) == number
        if math.isinf(value) or (tiny and not is_exact):
            m.set_errno(RANGE_ERROR)
    return value


for _name, _bits in (("d", 64), ("f", 32), ("ld", 80)):
    for _suffix in ("", "_l"):
        FUNCTIONS[f"strto{_name}{_suffix}"] = _from_text(_bits, narrow_text, 1)
        FUNCTIONS[f"wcsto{_name}{_suffix}"] = _from_text(_bits, wide_text, 4)


@library("atof")
def _atof(m: Machine, text: int) -> float:
    return _stored(m, parse_float(narrow_text(m, text))[0], 64)


@library("nan", "nanf", "nanl")
def _nan(m: Machine, text: int) -> float | None:
    return math.nan if m.memory.string(text) == b"" else None


# --- functions of doubles ---

_EXACT_IN_DOUBLE = frozenset(
    {
        *ROUNDINGS,
        *("copysign", "fabs", "fmax", "fmin", "fmod", "remainder", "drem", "logb", "scalb"),
        "significand",
    }
)
"""With doubles for arguments the result is a double, whatever the precision."""
_OWN_PRECISION = frozenset({"tgamma", "lgamma", "gamma"})
"""Python's are not the C library's: the last bit may differ."""
_UNDERFLOWS = frozenset({"exp", "exp2", "exp10", "pow", "pow10", "atan2"})
_FLAGGED_ONLY = frozenset({"logb", "scalb", "significand", *ROUNDINGS})
"""These do not set `errno`."""


def _underflows(name: str, arguments: tuple[float, ...], result: float) -> bool:
    """Whether a result is too small, or (of the next number) too large."""
    if not all(map(math.isfinite, arguments)) or not arguments[0]:
        return False
    if name in ("nextafter", "nexttoward"):
        is_small = abs(result) < 2.0**-1022 and arguments[0] != arguments[1]
        return is_small or math.isinf(result)
    return result == 0 and name in _UNDERFLOWS


def _in_width(name: str, function: Callable[..., float], bits: int) -> Callable[..., float]:
    def compute(m: Machine, *arguments: float) -> float:
        value, error = outcome(function, arguments)
        if math.isfinite(value) and value != 0:
            if bits == 80 and name not in _EXACT_IN_DOUBLE:
                m.note_inexact("a long double")
            if name in _OWN_PRECISION and value != math.floor(value):
                m.note_inexact(f"the last bit of {name}")
        result = round_float(bits, value)
        if _underflows(name, arguments, result):
            error = RANGE_ERROR
        if math.isinf(result) and not math.isinf(value):
            error = RANGE_ERROR
        if error and name not in _FLAGGED_ONLY:
            m.set_errno(error)
        return result

    return compute


def _nextafter32(m: Machine, x: float, y: float) -> float:
    """The next `float` towards another one."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if x == y:
        return y
    if x == 0:
        m.set_errno(RANGE_ERROR)
        return math.copysign(2.0**-149, y)
    bits = float_bits(32, x)
    found = bits_float(32, bits + (1 if (x < y) == (x > 0) else -1))
    if abs(found) < 2.0**-126 or (math.isinf(found) and math.isfinite(x)):
        m.set_errno(RANGE_ERROR)
    return found


for _name, _function in MATH.items():
    for _suffix, _bits in (("", 64), ("f", 32), ("l", 80)):
        FUNCTIONS[_name + _suffix] = _in_width(_name, _function, _bits)
library("nextafterf", "nexttowardf")(_nextafter32)

# --- with integers ---


def _to_integer(function: Callable[[float], float], is_long: bool) -> Callable[..., int | None]:
    def compute(m: Machine, x: float) -> int | None:
        bits = 8 * m.program.layout.pointer_size if is_long else 64
        if not math.isfinite(x):
            return None
        value = int(function(x))
        return value if -(1 << bits - 1) <= value < 1 << bits - 1 else None

    return compute


_INT_MAX, _INT_MIN = (1 << 31) - 1, -(1 << 31)


def _ilogb(m: Machine, x: float) -> int:
    if math.isfinite(x) and x != 0:
        return math.frexp(x)[1] - 1
    m.set_errno(DOMAIN_ERROR)
    return _INT_MAX if math.isinf(x) else _INT_MIN


def _classified(m: Machine, x: float) -> int:
    """FP_NAN, FP_INFINITE, FP_ZERO, FP_SUBNORMAL, FP_NORMAL."""
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return 1
    return 2 if x == 0 else 3 if abs(x) < 2.0**-1022 else 4


def _classified32(m: Machine, x: float) -> int:
    found = _classified(m, x)
    return 3 if found == 4 and abs(x) < 2.0**-126 else found


def _scale(bits: int) -> Callable[..., float]:
    def compute(m: Machine, x: float, exponent: int) -> float:
        width = 64 if exponent >> 32 else 32
        number = to_signed(exponent, width)
        value, error = outcome(scaled, (x, number))
        result = round_float(bits, value)
        if error or (x and result == 0) or (math.isinf(result) and math.isfinite(x)):
            m.set_errno(RANGE_ERROR)
        return result

    return compute


def _fraction(m: Machine, x: float, place: int) -> float:
    fraction, exponent = math.frexp(x)
    m.memory.write(place, (exponent & 0xFFFF_FFFF).to_bytes(4, "little"))
    return fraction


def _parts(bits: int) -> Callable[..., float]:
    """`modf`."""

    def compute(m: Machine, x: float, place: int) -> float:
        whole = math.copysign(math.trunc(x), x) if math.isfinite(x) else x
        m.memory.write(place, _encoded(bits, whole))
        if math.isnan(x):
            return x
        return math.copysign(0.0 if math.isinf(x) else x - whole, x)

    return compute


def _encoded(bits: int, value: float) -> bytes:
    return encode_float(bits, value)


def _quotient(m: Machine, x: float, y: float, place: int) -> float:
    """`remquo`: the remainder, and three bits of the quotient with its sign."""
    if y == 0 or not math.isfinite(x) or math.isnan(y):
        m.memory.write(place, bytes(4))
        return math.nan
    rest = math.remainder(x, y)
    whole = 0 if math.isinf(y) else round((Fraction(x) - Fraction(rest)) / Fraction(y))
    bits = abs(whole) & 7
    is_negative = math.copysign(1, x) * math.copysign(1, y) < 0
    m.memory.write(place, ((-bits if is_negative else bits) & 0xFFFF_FFFF).to_bytes(4, "little"))
    return rest


def _sine_and_cosine(bits: int) -> Callable[..., int]:
    def compute(m: Machine, x: float, sine: int, cosine: int) -> int:
        for place, function in ((sine, math.sin), (cosine, math.cos)):
            m.memory.write(place, _encoded(bits, round_float(bits, guarded(function, x))))
        return 0

    return compute


def log_gamma_sign(m: Machine, x: float, place: int) -> float:
    is_negative = False
    if x == 0:
        is_negative = math.copysign(1, x) < 0
    elif x < 0 and math.isfinite(x) and x != math.floor(x):
        is_negative = math.floor(x) % 2 != 0
    m.memory.write(place, (0xFFFF_FFFF if is_negative else 1).to_bytes(4, "little"))
    return float(_in_width("lgamma", log_gamma, 64)(m, x))


_WIDTHS = (("", 64), ("f", 32), ("l", 80))
for _suffix, _bits in _WIDTHS:
    for _name, _long in (("lround", True), ("llround", False)):
        FUNCTIONS[_name + _suffix] = _to_integer(away, _long)
    for _name, _long in (("lrint", True), ("llrint", False)):
        FUNCTIONS[_name + _suffix] = _to_integer(round, _long)
    FUNCTIONS[f"isnan{_suffix}"] = FUNCTIONS[f"__isnan{_suffix}"] = lambda m, x: int(math.isnan(x))
    FUNCTIONS[f"isinf{_suffix}"] = FUNCTIONS[f"__isinf{_suffix}"] = lambda m, x: (
        0 if not math.isinf(x) else 1 if x > 0 else -1
    )
    FUNCTIONS[f"finite{_suffix}"] = FUNCTIONS[f"__finite{_suffix}"] = lambda m, x: int(
        math.isfinite(x)
    )
    FUNCTIONS[f"__signbit{_suffix}"] = lambda m, x: int(math.copysign(1, x) < 0)
    FUNCTIONS[f"__fpclassify{_suffix}"] = _classified32 if _bits == 32 else _classified
    FUNCTIONS[f"ilogb{_suffix}"] = _ilogb
    FUNCTIONS[f"frexp{_suffix}"] = _fraction
    FUNCTIONS[f"remquo{_suffix}"] = _quotient
    for _name in ("ldexp", "scalbn", "scalbln"):
        FUNCTIONS[_name + _suffix] = _scale(_bits)
for _suffix, _bits in _WIDTHS[:2]:
    FUNCTIONS[f"modf{_suffix}"] = _parts(_bits)
    FUNCTIONS[f"sincos{_suffix}"] = _sine_and_cosine(_bits)
library("lgamma_r")(log_gamma_sign)
library("lgammaf_r")(lambda m, x, place: round_float(32, log_gamma_sign(m, x, place)))


@library("cabs")
def _cabs(m: Machine, *parts: float) -> float | None:
    return math.hypot(*parts) if len(parts) == 2 else None


@library("carg")
def _carg(m: Machine, *parts: float) -> float | None:
    return math.atan2(parts[1], parts[0]) if len(parts) == 2 else None


@library("difftime")
def _difftime(m: Machine, first: int, second: int) -> float:
    bits = 8 * m.program.layout.pointer_size
    return float(to_signed(first, bits) - to_signed(second, bits))


def parse_given(data: bytes) -> tuple[Fraction | float, int]:
    return parse_float(given_text(data))
