"""The operations of the IR as Python expressions, and the functions that those call.

Integers are kept unsigned. Flipping the top bit turns signed order into unsigned order:
`a <s b` is `(a ^ H) < (b ^ H)`, and `(a ^ H) - H` is the signed value of `a`. No expression tests
the truth of a value, so that all of them work on unknown values too (see `unknown`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from raceproof.ir import FloatType, IntType, PointerType, Type, VectorType
from raceproof.machine.faults import Unsupported
from raceproof.machine.unknown import Unknown, unknown_from
from raceproof.semantics import floats
from raceproof.semantics.concrete import MEANINGS
from raceproof.semantics.domain import Omission, omitted
from raceproof.semantics.floats import (
    bits_float,
    fdiv,
    float_bits,
    frem,
    round_float,
    to_float,
    to_int,
)
from raceproof.semantics.integers import ashr, lshr, sdiv, shl, srem

OMITTED: Final[dict[str, Omission]] = omitted(
    "llvm.frameaddress, llvm.returnaddress", Omission.UNSUPPORTED
)
"""What compiled code has no entry for."""


def width(type_: Type, pointer_bits: int) -> int:
    """Bits of an integer or pointer."""
    if isinstance(type_, IntType):
        return type_.bits
    if isinstance(type_, PointerType):
        return pointer_bits
    raise Unsupported(f"an integer operation on {type_}")


def signed(text: str, bits: int) -> str:
    half = 1 << (bits - 1)
    return f"(({text} ^ {half}) - {half})"


def binary(operation: str, type_: Type, left: str, right: str, pointer_bits: int) -> str:
    """The source of `left operation right`."""
    if isinstance(type_, VectorType):
        body = binary(operation, type_.element, "a", "b", pointer_bits)
        return f"tuple({body} for a, b in zip({left}, {right}))"
    if isinstance(type_, FloatType):
        return _float_binary(operation, type_.bits, left, right)
    bits = width(type_, pointer_bits)
    mask = (1 << bits) - 1
    match operation:
        case "add" | "sub" | "mul":
            sign = {"add": "+", "sub": "-", "mul": "*"}[operation]
            return f"({left} {sign} {right} & {mask})"
        case "and":
            return f"({left} & {right})"
        case "or":
            return f"({left} | {right})"
        case "xor":
            return f"({left} ^ {right})"
        case "udiv":
            return f"({left} // {right})"
        case "urem":
            return f"({left} % {right})"
        case "shl" | "lshr" | "ashr" if right.isdigit() and int(right) < bits:
            match operation:
                case "shl":
                    return f"({left} << {right} & {mask})"
                case "lshr":
                    return f"({left} >> {right})"
            return f"({signed(left, bits)} >> {right} & {mask})"
        case "sdiv" | "srem" | "shl" | "lshr" | "ashr":
            return f"{operation}({left}, {right}, {bits})"
    raise Unsupported(f"the operation {operation}")


def _float_binary(operation: str, bits: int, left: str, right: str) -> str:
    if bits > 64 and operation in floats.ARITHMETIC:
        return f"wide({operation!r}, {bits}, {left}, {right})"
    match operation:
        case "fadd":
            text = f"({left} + {right})"
        case "fsub":
            text = f"({left} - {right})"
        case "fmul":
            text = f"({left} * {right})"
        case "fdiv":
            text = f"fdiv({left}, {right})"
        case "frem":
            text = f"frem({left}, {right})"
        case _:
            raise Unsupported(f"the operation {operation}")
    return f"round_float({bits}, {text})" if bits < 64 else text


_EXTREMES = {"max": "sgt", "min": "slt", "umax": "ugt", "umin": "ult"}


def update(operation: str, type_: Type, old: str, value: str, pointer_bits: int) -> str:
    """The source of what an atomic update stores."""
    if operation == "xchg":
        return value
    if operation in _EXTREMES:
        test = compare(_EXTREMES[operation], type_, old, value, pointer_bits)
        return f"select({test}, {old}, {value})"
    bits = type_.bits if isinstance(type_, FloatType) else width(type_, pointer_bits)
    if operation == "nand":
        return f"({old} & {value} ^ {(1 << bits) - 1})"
    if f"atomicrmw {operation}" not in MEANINGS:
        raise Unsupported(f"the atomic update {operation}")
    if operation in ("add", "sub", "and", "or", "xor", "fadd", "fsub"):
        return binary(operation, type_, old, value, pointer_bits)
    return f"updated({operation!r}, {bits}, {old}, {value})"


def _updated(operation: str, bits: int, old: Any, value: Any) -> Any:
    return MEANINGS[f"atomicrmw {operation}"](bits, bits, old, value)


_UNSIGNED = {"eq": "==", "ne": "!=", "ugt": ">", "uge": ">=", "ult": "<", "ule": "<="}
_SIGNED = {"sgt": ">", "sge": ">=", "slt": "<", "sle": "<="}
_ORDERED = {"oeq": "==", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<="}
_UNORDERED = {"ugt": "<=", "uge": "<", "ult": ">=", "ule": ">"}


def compare(predicate: str, type_: Type, left: str, right: str, pointer_bits: int) -> str:
    """The source of a comparison."""
    if isinstance(type_, VectorType):
        body = compare(predicate, type_.element, "a", "b", pointer_bits)
        return f"tuple({body} for a, b in zip({left}, {right}))"
    if isinstance(type_, FloatType):
        return _float_compare(predicate, left, right)
    if predicate in _UNSIGNED:
        return f"({left} {_UNSIGNED[predicate]} {right})"
    half = 1 << (width(type_, pointer_bits) - 1)
    flipped = [
        str(int(text) ^ half) if text.isdigit() else f"({text} ^ {half})" for text in (left, right)
    ]
    return f"({flipped[0]} {_SIGNED[predicate]} {flipped[1]})"


def _float_compare(predicate: str, left: str, right: str) -> str:
    ordered = f"(({left} == {left}) & ({right} == {right}))"
    if predicate in _ORDERED:
        return f"({left} {_ORDERED[predicate]} {right})"
    if predicate in _UNORDERED:
        return f"(({left} {_UNORDERED[predicate]} {right}) ^ True)"
    match predicate:
        case "one":
            return f"(({left} < {right}) | ({left} > {right}))"
        case "une":
            return f"({left} != {right})"
        case "ueq":
            return f"((({left} < {right}) | ({left} > {right})) ^ True)"
        case "ord":
            return ordered
        case "uno":
            return f"({ordered} ^ True)"
        case "true":
            return "True"
        case "false":
            return "False"
    raise Unsupported(f"the comparison {predicate}")


def cast(operation: str, source: Type, target: Type, text: str, pointer_bits: int) -> str:
    """The source of a cast."""
    if isinstance(target, VectorType) and isinstance(source, VectorType):
        body = cast(operation, source.element, target.element, "a", pointer_bits)
        return f"tuple({body} for a in {text})"
    match operation:
        case "zext" | "addrspacecast":
            return text
        case "trunc" | "ptrtoint" | "inttoptr":
            wanted, given = width(target, pointer_bits), width(source, pointer_bits)
            return text if wanted >= given else f"({text} & {(1 << wanted) - 1})"
        case "sext":
            mask = (1 << width(target, pointer_bits)) - 1
            return f"({signed(text, width(source, pointer_bits))} & {mask})"
        case "bitcast":
            return _bitcast(source, target, text, pointer_bits)
        case "sitofp" | "uitofp":
            assert isinstance(target, FloatType)
            bits = width(source, pointer_bits)
            number = signed(text, bits) if operation == "sitofp" else text
            return f"to_float({number}, {target.bits})"
        case "fptosi" | "fptoui":
            return f"to_int({text}, {width(target, pointer_bits)}, {operation == 'fptosi'})"
        case "fptrunc" | "fpext":
            assert isinstance(target, FloatType)
            return f"round_float({target.bits}, {text})" if target.bits < 64 else text
    raise Unsupported(f"the cast {operation}")


def _bitcast(source: Type, target: Type, text: str, pointer_bits: int) -> str:
    if isinstance(source, FloatType) and isinstance(target, FloatType):
        return text
    if isinstance(source, FloatType):
        return f"float_bits({source.bits}, {text})"
    if isinstance(target, FloatType):
        return f"bits_float({target.bits}, {text})"
    if isinstance(source, VectorType) or isinstance(target, VectorType):
        raise Unsupported("a cast of vectors to other bits")
    return text


# --- what the expressions call ------------------------------------------------------------


def select(condition: Any, if_true: Any, if_false: Any) -> Any:
    """A selection whose condition may be unknown."""
    if isinstance(condition, Unknown):
        if if_true is if_false or (
            not isinstance(if_true, Unknown)
            and not isinstance(if_false, Unknown)
            and if_true == if_false
        ):
            return if_true
        return unknown_from(condition, if_true, if_false)
    if isinstance(condition, tuple):
        return tuple(select(c, a, b) for c, a, b in zip(condition, if_true, if_false, strict=True))
    return if_true if condition else if_false


HELPERS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        sdiv,
        srem,
        shl,
        lshr,
        ashr,
        fdiv,
        frem,
        to_float,
        to_int,
        float_bits,
        bits_float,
        round_float,
    )
}
HELPERS["wide"] = floats.binary
HELPERS["updated"] = _updated


def absorbing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on values that may be unknown: unknown if one of them is."""

    def wrapped(*arguments: Any) -> Any:
        for argument in arguments:
            if isinstance(argument, Unknown):
                return unknown_from(*arguments)
        return function(*arguments)

    return wrapped
