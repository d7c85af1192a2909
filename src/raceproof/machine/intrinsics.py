"""Pure operations of the compiler. `bits` is the width of the first argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raceproof.machine.faults import Unsupported
from raceproof.machine.operators import to_signed
from raceproof.machine.unknown import UNKNOWN, Unknown


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
    "frameaddress": lambda *_: 0,
    "returnaddress": lambda *_: 0,
    "fabs": lambda bits, _, a: abs(a),
    "sqrt": lambda bits, _, a: math.sqrt(a) if a >= 0 else math.nan,
    "floor": lambda bits, _, a: float(math.floor(a)) if math.isfinite(a) else a,
    "ceil": lambda bits, _, a: float(math.ceil(a)) if math.isfinite(a) else a,
    "trunc": lambda bits, _, a: float(math.trunc(a)) if math.isfinite(a) else a,
    "rint": lambda bits, _, a: float(round(a)) if math.isfinite(a) else a,
    "nearbyint": lambda bits, _, a: float(round(a)) if math.isfinite(a) else a,
    "copysign": lambda bits, _, a, b: math.copysign(a, b),
    "fmuladd": lambda bits, _, a, b, c: a * b + c,
    "fma": lambda bits, _, a, b, c: a * b + c,
    "minnum": lambda bits, _, a, b: min(a, b),
    "maxnum": lambda bits, _, a, b: max(a, b),
    "pow": lambda bits, _, a, b: a**b,
    "exp": lambda bits, _, a: math.exp(a),
    "log": lambda bits, _, a: math.log(a),
    "sin": lambda bits, _, a: math.sin(a),
    "cos": lambda bits, _, a: math.cos(a),
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
        return (UNKNOWN, UNKNOWN) if name.endswith("with.overflow") else UNKNOWN
    return function(bits, target, *arguments)
