"""Pure operations of the compiler. `bits` is the width of the first argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raceproof.machine.faults import Unsupported
from raceproof.machine.libc.floats import MATH, guarded
from raceproof.machine.unknown import Unknown, unknown_from
from raceproof.semantics.floats import float_class, round_float
from raceproof.semantics.integers import to_signed


def _wrap(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def _overflow(operation: Callable[[int, int], int], is_signed: bool) -> Callable[..., Any]:
    def compute(bits: int, _: int, a: int, b: int) -> tuple[int, bool]:
        if is_signed:
            exact = operation(to_signed(a, bits), to_signed(b, bits))
            return _wrap(exact, bits), not -(1 << bits - 1) <= exact < 1 << bits - 1
        exact = operation(a, b)
        return _wrap(exact, bits), not 0 <= exact < 1 << bits

    return compute


def _saturate(operation: Callable[[int, int], int], is_signed: bool) -> Callable[..., int]:
    def compute(bits: int, _: int, a: int, b: int) -> int:
        if is_signed:
            exact = operation(to_signed(a, bits), to_signed(b, bits))
            low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        else:
            exact, low, high = operation(a, b), 0, (1 << bits) - 1
        return _wrap(min(max(exact, low), high), bits)

    return compute


def _rotate(bits: int, a: int, b: int, amount: int) -> int:
    """The upper half of (a, b) shifted left."""
    amount %= bits
    return _wrap(((a << bits | b) << amount) >> bits, bits)


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}


def _in_width(function: Callable[..., float]) -> Callable[..., float]:
    return lambda bits, _, *arguments: round_float(bits, guarded(function, *arguments))


def _parts(value: float) -> tuple[float, float]:
    """The fraction and the whole number."""
    if math.isinf(value):
        return math.copysign(0.0, value), value
    fraction, whole = math.modf(value)
    return fraction, whole


_TABLE: dict[str, Callable[..., Any]] = {
    "ctpop": lambda bits, _, a: a.bit_count(),
    "ctlz": lambda bits, _, a, *__: bits - a.bit_length(),
    "cttz": lambda bits, _, a, *__: (a & -a).bit_length() - 1 if a else bits,
    "bswap": lambda bits, _, a: int.from_bytes(a.to_bytes(bits // 8, "little"), "big"),
    "bitreverse": lambda bits, _, a: int(f"{a:0{bits}b}"[::-1], 2),
    "abs": lambda bits, _, a, *__: _wrap(abs(to_signed(a, bits)), bits),
    "smax": lambda bits, _, a, b: a if to_signed(a, bits) > to_signed(b, bits) else b,
    "smin": lambda bits, _, a, b: a if to_signed(a, bits) < to_signed(b, bits) else b,
    "umax": lambda bits, _, a, b: max(a, b),
    "umin": lambda bits, _, a, b: min(a, b),
    "fshl": lambda bits, _, a, b, amount: _rotate(bits, a, b, amount),
    "fshr": lambda bits, _, a, b, amount: (
        _rotate(bits, a, b, bits - amount % bits) if amount % bits else b
    ),
    "expect": lambda bits, _, a, *__: a,
    "is.constant": lambda *_: False,
    "objectsize": lambda bits, target, *_: (1 << target) - 1,
    "threadlocal.address": lambda bits, _, a: a,
    "ptrmask": lambda bits, _, a, mask: a & mask,
    "stacksave": lambda *_: 0,
    "stackrestore": lambda *_: 0,
    "is.fpclass": lambda bits, _, a, classes: bool(float_class(bits, a) & classes),
    "fmuladd": lambda bits, _, a, b, c: round_float(bits, round_float(bits, a * b) + c),
    "minnum": lambda bits, _, a, b: guarded(MATH["fmin"], a, b),
    "maxnum": lambda bits, _, a, b: guarded(MATH["fmax"], a, b),
    "ldexp": lambda bits, _, a, n: round_float(bits, guarded(math.ldexp, a, to_signed(n, 32))),
    "frexp": lambda bits, _, a: (math.frexp(a)[0], math.frexp(a)[1] & 0xFFFF_FFFF),
    "modf": lambda bits, _, a: _parts(a),
    "sincos": lambda bits, _, a: (
        round_float(bits, guarded(math.sin, a)),
        round_float(bits, guarded(math.cos, a)),
    ),
    "powi": lambda bits, _, a, n: round_float(bits, guarded(math.pow, a, to_signed(n, 32))),
    "lround": lambda bits, target, a: _wrap(int(MATH["round"](a)), target),
    "llround": lambda bits, target, a: _wrap(int(MATH["round"](a)), target),
    "lrint": lambda bits, target, a: _wrap(int(MATH["rint"](a)), target),
    "llrint": lambda bits, target, a: _wrap(int(MATH["rint"](a)), target),
    **{name: _in_width(function) for name, function in MATH.items()},
    **{
        f"{sign}{name}.with.overflow": _overflow(operation, sign == "s")
        for name, operation in _ARITHMETIC.items()
        for sign in "su"
    },
    **{
        f"{sign}{name}.sat": _saturate(operation, sign == "s")
        for name, operation in _ARITHMETIC.items()
        for sign in "su"
    },
}


def intrinsic(name: str, bits: int, target: int, *arguments: Any) -> Any:
    """The value of a compiler's intrinsic; `target` is the width of the result."""
    function = _TABLE.get(name)
    if function is None:
        raise Unsupported(f"the intrinsic {name}")
    if any(isinstance(argument, Unknown) for argument in arguments):
        found = unknown_from(*arguments)
        return (found, found) if name.endswith("with.overflow") else found
    if any(isinstance(argument, tuple) for argument in arguments):
        return _by_element(function, bits, target, arguments)
    return function(bits, target, *arguments)


def _by_element(
    function: Callable[..., Any], bits: int, target: int, arguments: tuple[Any, ...]
) -> tuple[Any, ...]:
    """An intrinsic on vectors; a scalar argument is the same for all elements."""
    count = max(len(argument) for argument in arguments if isinstance(argument, tuple))
    return tuple(
        function(bits, target, *(a[k] if isinstance(a, tuple) else a for a in arguments))
        for k in range(count)
    )
