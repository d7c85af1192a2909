"""Instructions that only compute, as C expressions on scalars."""

from __future__ import annotations

from typing import Final

from raceproof.errors import UserError
from raceproof.ir import FloatType, IntType, Layout, PointerType, Type
from raceproof.semantics.domain import OPEN, Omission, omitted
from raceproof.sequentialize.c_text import bits_of, c_type, signed, wrapped

_SIMPLE = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_CALLED = ("sdiv", "srem", "shl", "lshr", "ashr")
_FLOATING = {"fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/"}
_UNSIGNED = {"eq": "==", "ne": "!=", "ugt": ">", "uge": ">=", "ult": "<", "ule": "<="}
_SIGNED = {"sgt": ">", "sge": ">=", "slt": "<", "sle": "<="}
_ORDERED = {"oeq": "==", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<="}
_UNORDERED = {"ugt": "<=", "uge": "<", "ult": ">=", "ule": ">"}


_FIXED = (
    "llvm.is.constant",
    "llvm.stacksave",
    "llvm.frameaddress",
    "llvm.returnaddress",
    "llvm.objectsize",
)
"""The compiler may choose, and we choose for it."""
OMITTED: Final[dict[str, Omission]] = {
    **{name: what for name, what in OPEN.items() if name not in _FIXED},
    **omitted(
        "llvm.ceil, llvm.floor, llvm.trunc, llvm.round, llvm.roundeven, llvm.rint, llvm.nearbyint,"
        "llvm.copysign, llvm.fma, llvm.sqrt, llvm.ldexp, llvm.fptosi.sat, llvm.fptoui.sat,"
        "llvm.lround, llvm.llround, llvm.lrint, llvm.llrint, llvm.minimum, llvm.maximum,"
        "llvm.sshl.sat, llvm.ushl.sat, llvm.frexp, llvm.modf, llvm.sincos, llvm.is.fpclass"
    ),
    **omitted(
        "frem, atomicrmw fmax, atomicrmw fmin, atomicrmw uinc_wrap, atomicrmw udec_wrap,"
        "atomicrmw usub_cond, atomicrmw usub_sat",
        Omission.UNSUPPORTED,
    ),
}
"""What the printed program has any value for, or is not printed for."""


def binary(operation: str, type_: Type, left: str, right: str, layout: Layout) -> str:
    """`left operation right`, with C's meaning for the type's bits."""
    if isinstance(type_, FloatType):
        if operation in _FLOATING:
            return f"({left} {_FLOATING[operation]} {right})"
        raise UserError(f"cannot translate the operation {operation} to plain C")
    bits = bits_of(type_, layout)
    if operation in _SIMPLE:
        wide = f"(uint32_t){left}" if operation == "mul" and bits < 32 else left
        return wrapped(type_, f"{wide} {_SIMPLE[operation]} {right}", layout)
    if operation in ("udiv", "urem"):
        return wrapped(type_, f"{operation}({left}, {right})", layout)
    if operation not in _CALLED:
        raise UserError(f"cannot translate the operation {operation} to plain C")
    return wrapped(type_, f"{operation}({left}, {right}, {bits})", layout)


def compare(predicate: str, type_: Type, left: str, right: str, layout: Layout) -> str:
    if isinstance(type_, FloatType):
        return _float_compare(predicate, left, right)
    if predicate in _UNSIGNED:
        return f"{left} {_UNSIGNED[predicate]} {right}"
    one, other = signed(type_, left, layout), signed(type_, right, layout)
    return f"{one} {_SIGNED[predicate]} {other}"


def _float_compare(predicate: str, left: str, right: str) -> str:
    ordered = f"({left} == {left} && {right} == {right})"
    if predicate in _ORDERED:
        return f"{left} {_ORDERED[predicate]} {right}"
    if predicate in _UNORDERED:
        return f"!({left} {_UNORDERED[predicate]} {right})"
    return {
        "one": f"({left} < {right} || {left} > {right})",
        "une": f"{left} != {right}",
        "ueq": f"!({left} < {right} || {left} > {right})",
        "ord": ordered,
        "uno": f"!{ordered}",
        "true": "1",
        "false": "0",
    }[predicate]


def cast(operation: str, source: Type, target: Type, text: str, layout: Layout) -> str:
    match operation:
        case "zext" | "trunc" | "ptrtoint" | "inttoptr" | "addrspacecast":
            return wrapped(target, text, layout)
        case "sext":
            return wrapped(target, signed(source, text, layout), layout)
        case "sitofp":
            return f"({c_type(target)}){signed(source, text, layout)}"
        case "uitofp" | "fptrunc" | "fpext":
            return f"({c_type(target)}){text}"
        case "fptosi" | "fptoui":
            bits, is_signed = bits_of(target, layout), int(operation == "fptosi")
            return wrapped(target, f"to_integer({text}, {bits}, {is_signed})", layout)
        case "bitcast":
            return _bitcast(source, target, text)
    raise UserError(f"cannot translate the cast {operation} to plain C")


def _bitcast(source: Type, target: Type, text: str) -> str:
    if c_type(source) == c_type(target):
        return text
    match source, target:
        case FloatType(bits=32), IntType(bits=32):
            return f"bits_of_float({text})"
        case FloatType(bits=64), IntType(bits=64):
            return f"bits_of_double({text})"
        case IntType(bits=32), FloatType(bits=32):
            return f"float_of_bits({text})"
        case IntType(bits=64), FloatType(bits=64):
            return f"double_of_bits({text})"
    raise UserError(f"cannot translate the cast of {source} to {target} to plain C")


def converted(source: Type, target: Type, text: str, layout: Layout) -> str:
    """An argument for a parameter of perhaps another type, as sloppy C passes it."""
    if c_type(source) == c_type(target):
        return text
    if isinstance(source, IntType | PointerType) and isinstance(target, IntType | PointerType):
        return wrapped(target, text, layout)
    if isinstance(source, FloatType) and isinstance(target, FloatType):
        return f"({c_type(target)}){text}"
    return f"({c_type(target)})0"


def intrinsic(
    name: str, type_: Type, result: Type, values: list[str], layout: Layout
) -> list[str] | None:
    """The leaves of a pure compiler intrinsic; None if we do not know it."""
    if name in ("expect", "threadlocal.address"):
        return [values[0]]
    if name in ("is.constant", "stacksave", "frameaddress", "returnaddress"):
        return ["0"]
    if isinstance(type_, FloatType):
        return _absolute(type_, values[0]) if name == "fabs" else None
    if not isinstance(type_, IntType | PointerType):
        return None
    bits = bits_of(type_, layout)
    if name.endswith(".with.overflow"):
        operation = name.split(".")[0]
        sum_ = binary(operation[1:], type_, values[0], values[1], layout)
        return [sum_, f"(uint8_t){operation}_overflows({values[0]}, {values[1]}, {bits})"]
    text = _integer_intrinsic(name, type_, values, bits, layout)
    if text is None and name == "objectsize":
        text = "~(uint64_t)0"
    return None if text is None else [wrapped(result, text, layout)]


def _absolute(type_: FloatType, value: str) -> list[str] | None:
    """Without its sign, also that of a zero."""
    match type_.bits:
        case 32:
            return [f"float_of_bits(bits_of_float({value}) & 0x7fffffffu)"]
        case 64:
            return [f"double_of_bits(bits_of_double({value}) & 0x7fffffffffffffffull)"]
    return None


def _integer_intrinsic(
    name: str, type_: Type, values: list[str], bits: int, layout: Layout
) -> str | None:
    a = values[0]
    if name in ("ctpop",):
        return f"ctpop({a})"
    if name in ("bswap", "bitreverse"):
        return f"{name}({a}, {bits})"
    if name in ("ctlz", "cttz"):
        return f"{name}({a}, {bits}, {values[1]})"
    if name in ("fshl", "fshr"):
        return f"{name}({a}, {values[1]}, {values[2]}, {bits})"
    if name in ("uadd.sat", "usub.sat", "sadd.sat", "ssub.sat"):
        return f"{name.replace('.', '_')}({a}, {values[1]}, {bits})"
    if name == "abs":
        return f"{signed(type_, a, layout)} < 0 ? 0 - {a} : {a}"
    if name in ("smax", "smin", "umax", "umin"):
        predicate = name[0] + ("gt" if name.endswith("max") else "lt")
        return f"{compare(predicate, type_, a, values[1], layout)} ? {a} : {values[1]}"
    return None
