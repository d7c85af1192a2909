"""The functions of <math.h> on numbers, with the error number that each sets.

What C says about signed zeros, infinities and nan holds; where Python raises an error, C has a
value. Results that IEEE 754 does not fix to the last digit (`sin`, `pow`, `exp`) are those of this
machine's C library.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from raceproof.semantics.floats import frem, round_float, rounded, to_int

DOMAIN_ERROR, RANGE_ERROR = 33, 34

# --- rounding ---


def away(x: float) -> float:
    """Half away from zero."""
    whole = math.floor(abs(x))
    return math.copysign(whole + (abs(x) - whole >= 0.5), x)


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: math.copysign(function(x), x) if math.isfinite(x) else x


ROUNDINGS: dict[str, Callable[[float], float]] = {
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "trunc": _whole(math.trunc),
    "round": _whole(away),
    "rint": _whole(round),
    "nearbyint": _whole(round),
    "roundeven": _whole(round),
}

# --- functions of doubles; a pole is a ZeroDivisionError, no result at all a ValueError ---


def log(x: float) -> float:
    return _pole(-math.inf) if x == 0 else math.log(x)


class Pole(ZeroDivisionError):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value


def _pole(value: float) -> float:
    raise Pole(value)


def _least(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def _greatest(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


def _power(x: float, y: float) -> float:
    if x == 0 and y < 0:
        is_odd = math.isfinite(y) and y == math.floor(y) and math.fmod(y, 2) != 0
        found = math.copysign(math.inf, x) if is_odd else math.inf
        return found if math.isinf(y) else _pole(found)
    try:
        return math.pow(x, y)
    except OverflowError:
        is_odd = y == math.floor(y) and math.fmod(y, 2) != 0
        raise Overflow(-math.inf if x < 0 and is_odd else math.inf) from None


class Overflow(OverflowError):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value


def _signed_overflow(function: Callable[[float], float]) -> Callable[[float], float]:
    """Overflows to the sign of its argument."""

    def compute(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            raise Overflow(math.copysign(math.inf, x)) from None

    return compute


def log_gamma(x: float) -> float:
    if math.isfinite(x) and x <= 0 and x == math.floor(x):
        return _pole(math.inf)
    return math.lgamma(x)


def _gamma(x: float) -> float:
    if x == 0:
        return _pole(math.copysign(math.inf, x))
    if x == -math.inf:
        raise ValueError
    return math.gamma(x)


def _atanh(x: float) -> float:
    return _pole(math.copysign(math.inf, x)) if abs(x) == 1 else math.atanh(x)


def _log1p(x: float) -> float:
    return _pole(-math.inf) if x == -1 else math.log1p(x)


def _logb(x: float) -> float:
    if x == 0:
        return _pole(-math.inf)
    if not math.isfinite(x):
        return x * x
    return float(math.frexp(x)[1] - 1)


def _difference(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else a - b if a > b else 0.0


def _significand(x: float) -> float:
    return x if x == 0 or not math.isfinite(x) else math.frexp(x)[0] * 2


def _scaled(x: float, y: float) -> float:
    """`scalb`: the exponent is a number, too."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if math.isinf(y):
        if (y > 0 and x == 0) or (y < 0 and math.isinf(x)):
            raise ValueError
        return x * y if y > 0 else x / -y
    if y != math.floor(y):
        raise ValueError
    return scaled(x, int(max(min(y, 65000.0), -65000.0)))


def scaled(x: float, exponent: int) -> float:
    try:
        return math.ldexp(x, max(min(exponent, 100_000), -100_000))
    except OverflowError:
        raise Overflow(math.copysign(math.inf, x)) from None


MATH: dict[str, Callable[..., float]] = {
    **ROUNDINGS,
    **{
        name: getattr(math, name)
        for name in (
            *("acos", "acosh", "asin", "asinh", "atan", "atan2", "cbrt", "copysign", "cos"),
            *("cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "hypot", "nextafter"),
            *("remainder", "sin", "sqrt", "tan", "tanh"),
        )
    },
    "atanh": _atanh,
    "drem": math.remainder,
    "exp10": lambda x: _power(10, x),
    "fdim": _difference,
    "fma": lambda a, b, c: exact_fma(a, b, c),
    "fmax": _greatest,
    "fmin": _least,
    "fmod": lambda a, b: _modulo(a, b),
    "gamma": log_gamma,
    "lgamma": log_gamma,
    "log": log,
    "log10": lambda x: _pole(-math.inf) if x == 0 else math.log10(x),
    "log1p": _log1p,
    "log2": lambda x: _pole(-math.inf) if x == 0 else math.log2(x),
    "logb": _logb,
    "nexttoward": math.nextafter,
    "pow": _power,
    "pow10": lambda x: _power(10, x),
    "scalb": _scaled,
    "significand": _significand,
    "sinh": _signed_overflow(math.sinh),
    "tgamma": _gamma,
}


def _modulo(a: float, b: float) -> float:
    if (b == 0 or math.isinf(a)) and not (math.isnan(a) or math.isnan(b)):
        raise ValueError
    return frem(a, b)


def exact_fma(a: float, b: float, c: float, bits: int = 64) -> float:
    """`a * b + c` rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    from fractions import Fraction

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return rounded(exact, bits) if exact else a * b + c


def guarded(function: Callable[..., float], *arguments: float) -> float:
    """Where Python raises an error, C has a value."""
    return outcome(function, arguments)[0]


def outcome(function: Callable[..., float], arguments: tuple[float, ...]) -> tuple[float, int]:
    """The value and the error number."""
    try:
        return function(*arguments), 0
    except Pole as pole:
        return pole.value, RANGE_ERROR
    except ValueError:
        return math.nan, 0 if any(map(math.isnan, arguments)) else DOMAIN_ERROR
    except Overflow as overflow:
        return overflow.value, RANGE_ERROR
    except OverflowError:
        return math.inf, RANGE_ERROR


def minimum(a: float, b: float) -> float:
    """A nan if one of them is; -0.0 is less than 0.0."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return min(a, b, key=lambda x: (x, math.copysign(1, x)))


def maximum(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return max(a, b, key=lambda x: (x, math.copysign(1, x)))


def function(name: str, bits: int, *arguments: float) -> float:
    """A function for numbers of that width."""
    if name == "fma":
        a, b, c = arguments
        return exact_fma(a, b, c, bits)
    return round_float(bits, guarded(MATH[name], *arguments))


def rounded_integer(name: str, value: float, bits: int) -> int:
    """`lround` and its kin: undefined for what does not fit."""
    if not math.isfinite(value):
        return to_int(value, bits, True)
    return to_int(ROUNDINGS["round" if name.endswith("round") else "rint"](value), bits, True)
