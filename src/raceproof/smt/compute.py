"""What the operations of the program compute, as terms of exact width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from raceproof.ir import FloatType, IntType, StructType, Type
from raceproof.semantics import floats
from raceproof.semantics.concrete import MEANINGS
from raceproof.semantics.domain import OPEN, Omission, omitted
from raceproof.semantics.edges import Undefined, Unrepresentable
from raceproof.semantics.operations import OPERATIONS, Kind
from raceproof.smt.terms import Term, Terms

OMITTED: Final[dict[str, Omission]] = OPEN | omitted(
    "atomicrmw fmax, atomicrmw fmin, atomicrmw uinc_wrap, atomicrmw udec_wrap,"
    "atomicrmw usub_cond, atomicrmw usub_sat"
)
"""What formulas have any value for."""
CONSTANTS_ONLY: Final[frozenset[str]] = frozenset(
    name
    for name, operation in OPERATIONS.items()
    if (Kind.FLOAT in operation.operands or operation.result is Kind.FLOAT)
    and name not in ("fneg", "fcmp true", "fcmp false")
) | frozenset(
    omitted("llvm.bitreverse, llvm.fshl, llvm.fshr, llvm.sadd.sat, llvm.ssub.sat")
    | omitted("llvm.sshl.sat, llvm.ushl.sat")
)
"""What they have any value for unless all operands are constants."""

_BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "udiv": "udiv",
    "sdiv": "sdiv",
    "urem": "urem",
    "srem": "srem",
    "shl": "shl",
    "lshr": "lshr",
    "ashr": "ashr",
    "and": "bvand",
    "or": "bvor",
    "xor": "bvxor",
}


def binary(terms: Terms, operation: str, a: Term, b: Term) -> Term | None:
    """An integer operation, or a floating-point one on constants; None if we cannot tell."""
    if operation in _BINARY:
        return terms.binary(_BINARY[operation], a, b)
    return _on_floats(terms, operation, a, b)


def update(terms: Terms, operation: str, old: Term, value: Term) -> Term | None:
    """The new value of an atomic update."""
    match operation:
        case "xchg":
            return value
        case "nand":
            both = terms.binary("bvand", old, value)
            return terms.binary("bvxor", both, terms.const(-1, old.width))
        case "max" | "min" | "umax" | "umin":
            predicate = ("u" if operation[0] == "u" else "s") + "lt"
            is_less = terms.compare(predicate, old, value)
            if operation.endswith("max"):
                return terms.ite(is_less, value, old)
            return terms.ite(is_less, old, value)
    return binary(terms, operation, old, value)


# --- floating point: constants only, with the numbers of `semantics.floats` ---

_WIDTHS = (32, 64)


def to_float(value: int, width: int) -> float:
    return floats.bits_float(width, value)


def from_float(number: float, width: int) -> int:
    return int.from_bytes(floats.encode_float(width, number), "little")


def _on_floats(terms: Terms, operation: str, a: Term, b: Term) -> Term | None:
    if operation not in floats.ARITHMETIC or a.width not in _WIDTHS:
        return None
    if not (a.is_constant and b.is_constant):
        return None
    left, right = to_float(a.constant, a.width), to_float(b.constant, b.width)
    result = floats.binary(operation, a.width, left, right)
    return terms.const(from_float(result, a.width), a.width)


def compare_floats(terms: Terms, predicate: str, a: Term, b: Term) -> Term | None:
    if predicate in ("true", "false"):
        return terms.truth(predicate == "true")
    if not (a.is_constant and b.is_constant) or a.width not in _WIDTHS:
        return None
    left, right = to_float(a.constant, a.width), to_float(b.constant, b.width)
    return terms.truth(floats.COMPARE[predicate](left, right))


def negate(terms: Terms, value: Term) -> Term:
    return terms.binary("bvxor", value, terms.const(1 << (value.width - 1), value.width))


def cast(
    terms: Terms, operation: str, value: Term, width: int, *, is_float: bool = False
) -> Term | None:
    """`is_float`: the value is a floating-point number. None if we cannot tell."""
    match operation:
        case "bitcast" if is_float and value.is_constant and value.width in _WIDTHS:
            if math.isnan(to_float(value.constant, value.width)):
                return None  # The bits of a nan are left open.
            return terms.resize(value, width)
        case "trunc" | "zext" | "bitcast" | "ptrtoint" | "inttoptr" | "addrspacecast":
            return terms.resize(value, width)
        case "sext":
            return terms.resize(value, width, is_signed=True)
    if not value.is_constant:
        return None
    source = value.width
    is_number = operation in ("sitofp", "uitofp")
    if not is_number and source not in _WIDTHS:
        return None
    number = value.constant if is_number else to_float(value.constant, source)
    if operation in ("fptosi", "fptoui"):
        try:
            return terms.const(int(floats.converted(operation, number, source, width)), width)
        except Undefined:
            return None
    if width not in _WIDTHS:
        return None
    return terms.const(from_float(floats.converted(operation, number, source, width), width), width)


# --- intrinsics ------------------------------------------------------------


def intrinsic(
    terms: Terms, name: str, arguments: list[Term], types: Sequence[Type], result: Type
) -> Term | tuple[Term, ...] | None:
    """The value of one of the compiler's pure operations; None if we don't know it."""
    found = _of_constants(terms, name, arguments, types, result)
    if found is not None:
        return found
    if any(isinstance(type_, FloatType) for type_ in types):
        return None
    return _integer_intrinsic(terms, name, arguments)


def _of_constants(
    terms: Terms, name: str, arguments: list[Term], types: Sequence[Type], result: Type
) -> Term | tuple[Term, ...] | None:
    """By the definition with numbers, of which the compiler leaves nothing open."""
    operation = OPERATIONS.get(f"llvm.{name}")
    if operation is None or not operation.is_fixed or operation.name not in MEANINGS:
        return None
    if not arguments or not all(argument.is_constant for argument in arguments):
        return None
    parts = result.fields if isinstance(result, StructType) else (result,)
    if any(_width(type_) is None for type_ in (*types, *parts)):
        return None
    numbers = [
        to_float(argument.constant, argument.width)
        if isinstance(type_, FloatType)
        else argument.constant
        for argument, type_ in zip(arguments, types, strict=True)
    ]
    try:
        found = MEANINGS[operation.name](arguments[0].width, _width(parts[0]), *numbers)
    except (Undefined, Unrepresentable):
        return None
    values = found if isinstance(found, tuple) else (found,)
    made = tuple(
        terms.const(
            from_float(value, type_.bits) if isinstance(type_, FloatType) else int(value),
            _width(type_) or 1,
        )
        for value, type_ in zip(values, parts, strict=True)
    )
    return made if isinstance(result, StructType) else made[0]


def _width(type_: Type) -> int | None:
    if isinstance(type_, FloatType):
        return type_.bits if type_.bits in _WIDTHS else None
    return type_.bits if isinstance(type_, IntType) else None


def _integer_intrinsic(
    terms: Terms, name: str, arguments: list[Term]
) -> Term | tuple[Term, ...] | None:
    base = name.removesuffix(".with.overflow")
    if base != name:
        return _with_overflow(terms, base, *arguments)
    a = arguments[0] if arguments else terms.false
    b = arguments[1] if len(arguments) > 1 else a
    match name:
        case "smax" | "smin" | "umax" | "umin":
            return update(terms, {"smax": "max", "smin": "min"}.get(name, name), a, b)
        case "abs":
            zero = terms.const(0, a.width)
            return terms.ite(terms.compare("slt", a, zero), terms.binary("sub", zero, a), a)
        case "expect" | "ssa.copy" | "launder.invariant.group" | "strip.invariant.group":
            return a
        case "bswap":
            result = terms.extract(a, 7, 0)
            for byte in range(1, a.width // 8):
                result = terms.concat(result, terms.extract(a, byte * 8 + 7, byte * 8))
            return result
        case "ctpop":
            count = terms.const(0, a.width)
            for bit in range(a.width):
                one = terms.zext(terms.extract(a, bit, bit), a.width)
                count = terms.binary("add", count, one)
            return count
        case "ctlz" | "cttz":
            found = terms.const(a.width, a.width)
            order = range(a.width) if name == "ctlz" else range(a.width - 1, -1, -1)
            for bit in order:
                distance = a.width - 1 - bit if name == "ctlz" else bit
                found = terms.ite(terms.extract(a, bit, bit), terms.const(distance, a.width), found)
            return found
        case "uadd.sat" | "usub.sat":
            total, overflow = _with_overflow(terms, name.removesuffix(".sat"), a, b)
            limit = terms.const(-1 if name == "uadd.sat" else 0, a.width)
            return terms.ite(overflow, limit, total)
    return None


def _with_overflow(terms: Terms, name: str, a: Term, b: Term) -> tuple[Term, Term]:
    operation, width = name[1:], a.width
    wide = 2 * width if operation == "mul" else width + 2
    is_signed = name[0] == "s"
    full = terms.binary(
        operation,
        terms.resize(a, wide, is_signed=is_signed),
        terms.resize(b, wide, is_signed=is_signed),
    )
    result = terms.extract(full, width - 1, 0)
    fits = terms.eq(full, terms.resize(result, wide, is_signed=is_signed))
    return result, terms.not_(fits)
