"""The operations with numbers: the definition that all other domains are held to.

Every entry takes the width of its first operand and that of its result, then the operands. Integers
are unsigned, an i1 is a bool or 0 and 1, a pointer is an integer, an aggregate a tuple. An entry
raises `Undefined` or `Unrepresentable` where `Edge` says so.

`atomicrmw` entries take the old value and the operand, and give the new value; `cmpxchg` takes the
old value, the expected one, the replacement, and whether it fails spuriously, and gives what is
stored and whether it succeeded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from raceproof.semantics import floats, integers, mathematics
from raceproof.semantics.edges import Undefined, Unrepresentable
from raceproof.semantics.integers import to_signed, wrap

Meaning = Callable[..., Any]
"""(width of the first operand, width of the result, *operands) -> result"""


# --- integers ------------------------------------------------------------


def _binary(name: str) -> Meaning:
    function = integers.BINARY[name]
    return lambda bits, _, a, b: function(a, b, bits)


def _compare(name: str) -> Meaning:
    function = integers.COMPARE[name]
    return lambda bits, _, a, b: function(a, b, bits)


_ARITHMETIC: Final[dict[str, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}


def _limits(bits: int, is_signed: bool) -> tuple[int, int]:
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)


def _exactly(name: str, is_signed: bool, bits: int, a: int, b: int) -> int:
    if is_signed:
        a, b = to_signed(a, bits), to_signed(b, bits)
    return _ARITHMETIC[name](a, b)


def _with_overflow(name: str, is_signed: bool) -> Meaning:
    def compute(bits: int, _: int, a: int, b: int) -> tuple[int, bool]:
        exact = _exactly(name, is_signed, bits, a, b)
        low, high = _limits(bits, is_signed)
        return wrap(exact, bits), not low <= exact <= high

    return compute


def _clamped(exact: int, bits: int, is_signed: bool) -> int:
    low, high = _limits(bits, is_signed)
    return wrap(min(max(exact, low), high), bits)


def _saturating(name: str, is_signed: bool) -> Meaning:
    return lambda bits, _, a, b: _clamped(_exactly(name, is_signed, bits, a, b), bits, is_signed)


def _saturating_shift(is_signed: bool) -> Meaning:
    def compute(bits: int, _: int, a: int, amount: int) -> int:
        if amount >= bits:
            raise Undefined(f"a shift of {bits} bits by {amount}")
        return _clamped((to_signed(a, bits) if is_signed else a) << amount, bits, is_signed)

    return compute


def _funnel_left(bits: int, _: int, a: int, b: int, amount: int) -> int:
    """The upper half of (a, b) shifted left."""
    amount %= bits
    return wrap(((a << bits | b) << amount) >> bits, bits)


def _funnel_right(bits: int, _: int, a: int, b: int, amount: int) -> int:
    amount %= bits
    return wrap((a << bits | b) >> amount, bits)


def _zeros(count: Callable[[int, int], int]) -> Meaning:
    def compute(bits: int, _: int, a: int, zero_is_poison: int = 0) -> int:
        if a == 0:
            if zero_is_poison:
                raise Undefined("the zeros of zero")
            return bits
        return count(a, bits)

    return compute


def _absolute(bits: int, _: int, a: int, smallest_is_poison: int = 0) -> int:
    if smallest_is_poison and a == 1 << bits - 1:
        raise Undefined("the absolute value of the smallest number")
    return wrap(abs(to_signed(a, bits)), bits)


INTEGERS: Final[dict[str, Meaning]] = {
    **{name: _binary(name) for name in integers.BINARY},
    **{f"icmp {name}": _compare(name) for name in integers.COMPARE},
    "trunc": lambda bits, target, a: wrap(a, target),
    "zext": lambda bits, target, a: a,
    "sext": lambda bits, target, a: wrap(to_signed(a, bits), target),
    "ptrtoint": lambda bits, target, a: wrap(a, target),
    "inttoptr": lambda bits, target, a: wrap(a, target),
    "addrspacecast": lambda bits, target, a: a,
    "llvm.ctpop": lambda bits, _, a: a.bit_count(),
    "llvm.ctlz": _zeros(lambda a, bits: bits - a.bit_length()),
    "llvm.cttz": _zeros(lambda a, bits: (a & -a).bit_length() - 1),
    "llvm.bswap": lambda bits, _, a: int.from_bytes(a.to_bytes(bits // 8, "little"), "big"),
    "llvm.bitreverse": lambda bits, _, a: int(f"{a:0{bits}b}"[::-1], 2),
    "llvm.abs": _absolute,
    "llvm.smax": lambda bits, _, a, b: integers.UPDATE["max"](a, b, bits),
    "llvm.smin": lambda bits, _, a, b: integers.UPDATE["min"](a, b, bits),
    "llvm.umax": lambda bits, _, a, b: max(a, b),
    "llvm.umin": lambda bits, _, a, b: min(a, b),
    "llvm.fshl": _funnel_left,
    "llvm.fshr": _funnel_right,
    "llvm.sshl.sat": _saturating_shift(True),
    "llvm.ushl.sat": _saturating_shift(False),
    **{
        f"llvm.{sign}{name}.with.overflow": _with_overflow(name, sign == "s")
        for name in _ARITHMETIC
        for sign in "su"
    },
    **{
        f"llvm.{sign}{name}.sat": _saturating(name, sign == "s")
        for name in ("add", "sub")
        for sign in "su"
    },
}


# --- floating point ------------------------------------------------------------


def _float_binary(name: str) -> Meaning:
    return lambda bits, _, a, b: floats.binary(name, bits, a, b)


def _float_compare(name: str) -> Meaning:
    function = floats.COMPARE[name]
    return lambda bits, _, a, b: function(a, b)


def _conversion(name: str) -> Meaning:
    return lambda bits, target, a: floats.converted(name, a, bits, target)


def _function(name: str) -> Meaning:
    return lambda bits, _, *arguments: mathematics.function(name, bits, *arguments)


def _to_integer(name: str) -> Meaning:
    return lambda bits, target, a: mathematics.rounded_integer(name, a, target)


def _power(bits: int, _: int, a: float, n: int) -> float:
    return mathematics.function("pow", bits, a, to_signed(n, 32))


def _scaled(bits: int, _: int, a: float, n: int) -> float:
    return floats.round_float(bits, mathematics.guarded(mathematics.scaled, a, to_signed(n, 32)))


def _split(bits: int, target: int, a: float) -> tuple[float, int]:
    fraction, exponent = math.frexp(a)
    return fraction, wrap(exponent, 32)


def _parts(bits: int, _: int, a: float) -> tuple[float, float]:
    """The fraction and the whole number."""
    if math.isinf(a):
        return math.copysign(0.0, a), a
    return math.modf(a)


def _sine_and_cosine(bits: int, _: int, a: float) -> tuple[float, float]:
    return mathematics.function("sin", bits, a), mathematics.function("cos", bits, a)


def _copysign(bits: int, _: int, a: float, b: float) -> float:
    if math.isnan(b):
        raise Unrepresentable("the sign of a nan")
    return math.copysign(a, b)


def _is_class(bits: int, _: int, a: float, classes: int) -> bool:
    return bool(floats.float_class(bits, a) & classes)


FLOATS: Final[dict[str, Meaning]] = {
    **{name: _float_binary(name) for name in floats.ARITHMETIC},
    **{f"fcmp {name}": _float_compare(name) for name in floats.COMPARE},
    **{
        name: _conversion(name)
        for name in ("sitofp", "uitofp", "fptosi", "fptoui", "fptrunc", "fpext")
    },
    "fneg": lambda bits, _, a: -a,
    **{
        f"llvm.{name}": _function(name)
        for name in (
            *mathematics.ROUNDINGS,
            *("fabs", "fma", "sqrt", "exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos"),
            *("tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "pow", "atan2"),
        )
    },
    **{f"llvm.{name}": _to_integer(name) for name in ("lround", "llround", "lrint", "llrint")},
    "llvm.copysign": _copysign,
    "llvm.minnum": lambda bits, _, a, b: mathematics.MATH["fmin"](a, b),
    "llvm.maxnum": lambda bits, _, a, b: mathematics.MATH["fmax"](a, b),
    "llvm.minimum": lambda bits, _, a, b: mathematics.minimum(a, b),
    "llvm.maximum": lambda bits, _, a, b: mathematics.maximum(a, b),
    "llvm.fmuladd": lambda bits, _, a, b, c: floats.binary(
        "fadd", bits, floats.binary("fmul", bits, a, b), c
    ),
    "llvm.ldexp": _scaled,
    "llvm.powi": _power,
    "llvm.frexp": _split,
    "llvm.modf": _parts,
    "llvm.sincos": _sine_and_cosine,
    "llvm.is.fpclass": _is_class,
    "llvm.fptosi.sat": lambda bits, target, a: floats.to_int_saturated(a, target, True),
    "llvm.fptoui.sat": lambda bits, target, a: floats.to_int_saturated(a, target, False),
}


# --- choices, atomic updates, what the compiler decides ---


def _exchanged(
    _: int, __: int, old: Any, expected: Any, replacement: Any, fails: bool = False
) -> tuple[Any, bool]:
    succeeds = old == expected and not fails
    return (replacement if succeeds else old), succeeds


def _update(name: str) -> Meaning:
    function = integers.UPDATE[name]
    return lambda bits, _, old, value: function(old, value, bits)


OTHERS: Final[dict[str, Meaning]] = {
    "select": lambda _, __, condition, a, b: a if condition else b,
    **{f"atomicrmw {name}": _update(name) for name in integers.UPDATE},
    **{f"atomicrmw {name}": FLOATS[name] for name in ("fadd", "fsub")},
    "atomicrmw fmax": FLOATS["llvm.maxnum"],
    "atomicrmw fmin": FLOATS["llvm.minnum"],
    "cmpxchg": lambda _, __, old, expected, replacement: _exchanged(
        _, __, old, expected, replacement
    ),
    "cmpxchg weak": _exchanged,
    "llvm.expect": lambda bits, _, a, __: a,
    "llvm.is.constant": lambda bits, _, a: False,
    "llvm.objectsize": lambda _, target, a, least=0, *__: 0 if least else (1 << target) - 1,
    "llvm.threadlocal.address": lambda bits, _, a: a,
    "llvm.ptrmask": lambda bits, _, a, mask: a & mask,
    "llvm.stacksave": lambda *_: 0,
    "llvm.stackrestore": lambda *_: None,
}

MEANINGS: Final[dict[str, Meaning]] = {**INTEGERS, **FLOATS, **OTHERS}


def by_element(meaning: Meaning, bits: int, target: int, operands: tuple[Any, ...]) -> Any:
    """An operation on vectors; a scalar operand is the same for all elements."""
    count = max(len(operand) for operand in operands if isinstance(operand, tuple))
    return tuple(
        meaning(bits, target, *(o[k] if isinstance(o, tuple) else o for o in operands))
        for k in range(count)
    )
