"""Which operations are compared, on which types and operands."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from raceproof.ir import I1, FloatType, IntType, Type
from raceproof.semantics.floats import bits_float, round_float
from raceproof.semantics.operations import OPERATIONS, Kind, Operation

WIDTHS = (8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class Case:
    """An operation on operands of certain types."""

    operation: Operation
    operands: tuple[Type, ...]
    result: Type
    flags: tuple[int, ...] = ()
    """Constant i1 operands after the others."""

    @property
    def name(self) -> str:
        types = "_".join(str(type_) for type_ in (*self.operands, self.result))
        words = self.operation.name.replace(".", "_").replace(" ", "_")
        return f"{words}_{types}{'_flag' if any(self.flags) else ''}"

    @property
    def bits(self) -> int:
        return self.operands[0].bits  # type: ignore[attr-defined,no-any-return]

    @property
    def target(self) -> int:
        return self.result.bits  # type: ignore[attr-defined,no-any-return]

    def __str__(self) -> str:
        return self.name


_CASTS = {
    "trunc": [(64, 32), (64, 8), (32, 16), (16, 8)],
    "zext": [(8, 16), (8, 64), (16, 32), (32, 64)],
    "sext": [(8, 16), (8, 64), (16, 32), (32, 64)],
    "fptosi": [(f, i) for f in (32, 64) for i in WIDTHS],
    "fptoui": [(f, i) for f in (32, 64) for i in WIDTHS],
    "sitofp": [(i, f) for f in (32, 64) for i in WIDTHS],
    "uitofp": [(i, f) for f in (32, 64) for i in WIDTHS],
    "fptrunc": [(64, 32)],
    "fpext": [(32, 64)],
    "llvm.fptosi.sat": [(f, i) for f in (32, 64) for i in WIDTHS],
    "llvm.fptoui.sat": [(f, i) for f in (32, 64) for i in WIDTHS],
    "llvm.lround": [(64, 64), (32, 64)],
    "llvm.llround": [(64, 64), (32, 64)],
    "llvm.lrint": [(64, 64), (32, 64)],
    "llvm.llrint": [(64, 64), (32, 64)],
}
_FLAGGED = ("llvm.ctlz", "llvm.cttz", "llvm.abs")
_NOT_SCALAR = frozenset(
    {
        *("freeze", "ptrtoint", "inttoptr", "addrspacecast", "extractvalue", "insertvalue"),
        *("extractelement", "insertelement", "shufflevector", "getelementptr", "alloca"),
        *("load", "store", "load atomic", "store atomic", "memcpy", "memset", "fence"),
        *("llvm.is.constant", "llvm.objectsize", "llvm.threadlocal.address", "llvm.ptrmask"),
        *("llvm.frameaddress", "llvm.returnaddress", "llvm.stacksave", "llvm.stackrestore"),
        *("llvm.frexp", "llvm.modf", "llvm.sincos", "llvm.is.fpclass", "llvm.expect"),
        *(name for name in OPERATIONS if name.startswith("vector ")),
    }
)
"""Those that other tests run whole programs for."""


def cases() -> Iterator[Case]:
    for name, operation in OPERATIONS.items():
        if name not in _NOT_SCALAR:
            yield from _cases_of(operation)


def _cases_of(operation: Operation) -> Iterator[Case]:
    name = operation.name
    is_float = Kind.FLOAT in operation.operands
    if name in _CASTS:
        for source, target in _CASTS[name]:
            from_float = is_float
            to_float = operation.result is Kind.FLOAT
            yield Case(operation, (_type(source, from_float),), _type(target, to_float))
        return
    if name == "bitcast":
        for bits in (32, 64):
            yield Case(operation, (FloatType(bits),), IntType(bits))
            yield Case(operation, (IntType(bits),), FloatType(bits))
        return
    for bits in (32, 64) if is_float else WIDTHS:
        if name == "llvm.bswap" and bits == 8:
            continue
        type_ = _type(bits, is_float)
        if name in ("select",) or name.startswith("cmpxchg"):
            first: tuple[Type, ...] = (I1,) if name == "select" else (type_,)
            yield Case(operation, (*first, type_, type_), type_)
        elif name in ("llvm.ldexp", "llvm.powi"):
            yield Case(operation, (type_, IntType(32)), type_)
        elif name.startswith("atomicrmw"):
            yield Case(operation, (type_, type_), type_)
        elif name in _FLAGGED:
            for flag in (0, 1):
                yield Case(operation, (type_,), type_, (flag,))
        else:
            count = len(operation.operands)
            result = I1 if operation.result is Kind.BOOLEAN else type_
            yield Case(operation, (type_,) * count, result)


def _type(bits: int, is_float: bool) -> Type:
    return FloatType(bits) if is_float else IntType(bits)


# --- operands ------------------------------------------------------------

_FLOATS = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e10, -1e10, 127.0, 128.0, 255.9),
    *(-0.9, 2147483647.0, 2147483648.0, 9223372036854775808.0, 16777217.0, 1 / 3),
    *(math.inf, -math.inf, math.nan),
    *(2.0**-149, -(2.0**-149), 2.0**-126, 2.0**127 * 1.5, -(2.0**100)),
]
_PAIRED = [0.0, -0.0, 1.0, -1.0, 2.5, 2.0**-149, 2.0**127 * 1.5, math.inf, -math.inf, math.nan]
_DOUBLES = [2.0**-1074, 2.0**-1022, 1.7e308, 4503599627370497.5, 2.0**52, 0.49999999999999994]


def edge_operands(type_: Type) -> list[float]:
    if isinstance(type_, FloatType):
        numbers = [*_FLOATS, *(_DOUBLES if type_.bits == 64 else [])]
        return [round_float(type_.bits, number) for number in numbers]
    assert isinstance(type_, IntType)
    bits = type_.bits
    top = 1 << bits
    if bits == 1:
        return [0, 1]
    found = {0, 1, 2, 3, 5, bits - 1, bits, bits + 1, top - 1, top - 2, top // 2, top // 2 - 1}
    return sorted(number % top for number in found)


def random_operand(type_: Type, generator: random.Random) -> float:
    if isinstance(type_, IntType):
        return generator.getrandbits(generator.randint(1, type_.bits))
    assert isinstance(type_, FloatType)
    if generator.random() < 0.5:
        return float(generator.randint(-1000, 1000)) / generator.choice((1, 2, 8))
    return bits_float(type_.bits, generator.getrandbits(type_.bits))


def rows(case: Case, generator: random.Random, count: int) -> Iterator[tuple[float, ...]]:
    """Operands: all edges, of two operands all pairs of them, of three some; then random ones."""
    edges = [edge_operands(type_) for type_ in case.operands]
    if len(edges) == 1:
        yield from ((number,) for number in edges[0])
    elif len(edges) == 2:
        pairs = zip(edges, case.operands, strict=True)
        yield from itertools.product(*(_few(numbers, type_) for numbers, type_ in pairs))
    for _ in range(count):
        yield tuple(generator.choice(numbers) for numbers in edges)
        yield tuple(random_operand(type_, generator) for type_ in case.operands)


def _few(numbers: list[float], type_: Type) -> list[float]:
    """The edges that meet each other in pairs."""
    return _PAIRED if isinstance(type_, FloatType) else numbers
