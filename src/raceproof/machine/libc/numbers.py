"""Numbers: from text, of characters, and the functions of <math.h>."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from raceproof.machine.codec import round_float
from raceproof.machine.libc.registry import FUNCTIONS, library
from raceproof.machine.operators import frem, to_signed

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine

# --- from text ---

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SPACES = b" \t\n\v\f\r"
_FLOAT = re.compile(rb"[+-]?(?:inf(?:inity)?|nan|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE)


def parse_integer(text: bytes, base: int) -> tuple[int, int]:
    """The number at the start, and how many bytes it takes (0 if there is none)."""
    start = len(text) - len(text.lstrip(_SPACES))
    position = start
    negative = text[position : position + 1] == b"-"
    if text[position : position + 1] in (b"+", b"-"):
        position += 1
    rest = text[position:].lower()
    if base in (0, 16) and re.match(rb"0x[0-9a-f]", rest):
        position, base = position + 2, 16
    elif base == 0:
        base = 8 if rest[:1] == b"0" else 10
    first = position
    digits = _DIGITS[:base].encode()
    while position < len(text) and text[position : position + 1].lower() in digits:
        position += 1
    if position == first:
        return 0, 0
    value = int(text[first:position], base)
    return (-value if negative else value), position


def _integer(bits: Callable[[Machine], int], is_signed: bool) -> Callable[..., int]:
    def convert(m: Machine, text: int, end: int, base: int) -> int:
        value, length = parse_integer(m.memory.string(text), base)
        if end:
            m.write_pointer(end, text + length)
        width = bits(m)
        if is_signed:
            value = min(max(value, -(1 << width - 1)), (1 << width - 1) - 1)
        elif abs(value) >= 1 << width:
            value = (1 << width) - 1
        return value & (1 << width) - 1

    return convert


def _long(m: Machine) -> int:
    return 8 * m.program.layout.pointer_size


library("strtol", "__isoc23_strtol")(_integer(_long, True))
library("strtoul", "__isoc23_strtoul")(_integer(_long, False))
library("strtoll", "strtoq", "strtoimax", "__isoc23_strtoll")(_integer(lambda _: 64, True))
library("strtoull", "strtouq", "strtoumax", "__isoc23_strtoull")(_integer(lambda _: 64, False))


@library("atoi", "atol", "atoll")
def _atoi(m: Machine, text: int) -> int:
    return parse_integer(m.memory.string(text), 10)[0]


def parse_float(text: bytes) -> tuple[float, int]:
    start = len(text) - len(text.lstrip(_SPACES))
    found = _FLOAT.match(text, start)
    return (float(found[0]), found.end()) if found else (0.0, 0)


@library("strtod", "strtold")
def _strtod(m: Machine, text: int, end: int) -> float:
    value, length = parse_float(m.memory.string(text))
    if end:
        m.write_pointer(end, text + length)
    return value


@library("strtof")
def _strtof(m: Machine, text: int, end: int) -> float:
    return round_float(32, _strtod(m, text, end))


@library("atof")
def _atof(m: Machine, text: int) -> float:
    return parse_float(m.memory.string(text))[0]


@library("abs")
def _abs(m: Machine, value: int) -> int:
    return abs(to_signed(value, 32))


@library("labs")
def _labs(m: Machine, value: int) -> int:
    return abs(to_signed(value, _long(m)))


@library("llabs", "imaxabs")
def _llabs(m: Machine, value: int) -> int:
    return abs(to_signed(value, 64))


# --- <math.h> ---


def _round(x: float) -> float:
    """Half away from zero."""
    return math.copysign(math.floor(abs(x) + 0.5), x) if abs(x) < 2**52 else x


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: math.copysign(function(x), x) if math.isfinite(x) else x


def _least(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def _greatest(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


def log(x: float) -> float:
    return -math.inf if x == 0 else math.log(x)


ROUNDINGS: dict[str, Callable[[float], float]] = {
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "trunc": _whole(math.trunc),
    "round": _whole(_round),
    "rint": _whole(round),
    "nearbyint": _whole(round),
    "roundeven": _whole(round),
}
MATH: dict[str, Callable[..., float]] = {
    **ROUNDINGS,
    **{
        name: getattr(math, name)
        for name in (
            *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign"),
            *("cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "hypot", "lgamma"),
            *("log1p", "nextafter", "pow", "remainder", "sin", "sinh", "sqrt", "tan", "tanh"),
        )
    },
    "exp10": lambda x: math.pow(10, x),
    "log": log,
    "log2": lambda x: -math.inf if x == 0 else math.log2(x),
    "log10": lambda x: -math.inf if x == 0 else math.log10(x),
    "tgamma": math.gamma,
    "fdim": lambda a, b: max(a - b, 0.0),
    "fmod": frem,
    "fmin": _least,
    "fmax": _greatest,
    "fma": lambda a, b, c: exact_fma(a, b, c),
}


def exact_fma(a: float, b: float, c: float) -> float:
    """`a * b + c` rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    from fractions import Fraction

    return float(Fraction(a) * Fraction(b) + Fraction(c)) or a * b + c


def guarded(function: Callable[..., float], *arguments: float) -> float:
    """Where Python raises an error, C has a value."""
    try:
        return function(*arguments)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def _in_width(function: Callable[..., float], bits: int) -> Callable[..., float]:
    return lambda m, *arguments: round_float(bits, guarded(function, *arguments))


def _to_integer(function: Callable[[float], float]) -> Callable[..., int]:
    return lambda m, x: int(function(x)) if math.isfinite(x) else 0


for _name, _function in MATH.items():
    for _suffix, _bits in (("", 64), ("f", 32), ("l", 64)):
        FUNCTIONS[_name + _suffix] = _in_width(_function, _bits)
for _suffix in ("", "f", "l"):
    for _name in ("lround", "llround"):
        FUNCTIONS[_name + _suffix] = _to_integer(_round)
    for _name in ("lrint", "llrint"):
        FUNCTIONS[_name + _suffix] = _to_integer(round)
    FUNCTIONS[f"isnan{_suffix}"] = FUNCTIONS[f"__isnan{_suffix}"] = lambda m, x: int(math.isnan(x))
    FUNCTIONS[f"isinf{_suffix}"] = FUNCTIONS[f"__isinf{_suffix}"] = lambda m, x: (
        0 if not math.isinf(x) else 1 if x > 0 else -1
    )
    FUNCTIONS[f"finite{_suffix}"] = FUNCTIONS[f"__finite{_suffix}"] = lambda m, x: int(
        math.isfinite(x)
    )
    FUNCTIONS[f"__signbit{_suffix}"] = lambda m, x: int(math.copysign(1, x) < 0)


@library("ldexp", "ldexpl", "scalbn", "scalbnl", "scalbln", "scalblnl")
def _ldexp(m: Machine, x: float, exponent: int) -> float:
    return guarded(math.ldexp, x, to_signed(exponent & 0xFFFF_FFFF, 32))


@library("ldexpf", "scalbnf", "scalblnf")
def _ldexpf(m: Machine, x: float, exponent: int) -> float:
    return round_float(32, _ldexp(m, x, exponent))


@library("frexp", "frexpf", "frexpl")
def _frexp(m: Machine, x: float, place: int) -> float:
    fraction, exponent = math.frexp(x)
    m.memory.write(place, (exponent & 0xFFFF_FFFF).to_bytes(4, "little"))
    return fraction
