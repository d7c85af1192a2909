"""The table of operations: every instruction and intrinsic that computes something.

An operation has a name (LLVM's word for it), operands, a result, and *edges*: the operands for
which its meaning is not plain. What an edge means is said at `Edge`, once for all operations.

    sdiv            (integer, integer) -> integer       DIVISION_BY_ZERO, QUOTIENT_TOO_LARGE
    cmpxchg weak    (pointer, any, any) -> (any, i1)    SPURIOUS_FAILURE

`concrete` defines the operations with numbers. What else executes programs (formulas, abstract
values, Python text, C text) is a domain that fills in the same table and lists what it leaves out
(see `domain`). `operation_of` names the operation of an instruction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from raceproof.ir import (
    AtomicUpdate,
    Binary,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
    ExtractElement,
    ExtractField,
    Fence,
    FloatType,
    Freeze,
    InsertElement,
    InsertField,
    Instruction,
    Intrinsic,
    Load,
    Negate,
    Offset,
    Select,
    SetMemory,
    Shuffle,
    StackSlot,
    Store,
    VectorType,
)


class Kind(Enum):
    """What an operand or result is."""

    INTEGER = "integer"
    FLOAT = "float"
    POINTER = "pointer"
    BOOLEAN = "i1"
    ANY = "any"
    AGGREGATE = "aggregate"
    VECTOR = "vector"
    PAIR = "pair"
    """Of a value and an i1."""
    NONE = "none"


class Edge(Enum):
    """Operands for which the result is not plain, and what holds then in every executor.

    *Undefined*: no execution goes on. An executor ends it there, or goes on with any result.
    """

    DIVISION_BY_ZERO = "a divisor of zero: undefined"
    QUOTIENT_TOO_LARGE = "the smallest number divided by -1: undefined"
    SHIFT_PAST_WIDTH = "a shift by the width or more: undefined"
    OUT_OF_RANGE = "nan, or a number that does not fit the integer type: undefined"
    ZERO_IS_POISON = "a second operand of true: undefined for zero, else the width"
    WRAPS = "the result is cut to the width, also where `nsw` or `nuw` promise that it fits"
    """An executor may end an execution that breaks the promise, and need not."""
    ROUNDS = "the nearest number of the type, ties to even, rounded once"
    SIGNED_ZERO = "zeros have a sign"
    NAN = "a nan whose bits are left open; as an integer they may be anything"
    SUBNORMAL = "subnormal numbers are kept"
    CHOSEN = "left to the compiler: any of the results it may choose"
    LAST_DIGIT = "rounded as the C library does it, perhaps not to the nearest number"
    UNDEFINED_OPERAND = "an undefined or poison operand is any value of its type, asked for once"
    OUT_OF_BOUNDS = "leaving the object, where `inbounds` says it is not left: undefined"
    NO_SUCH_ELEMENT = "an index past the end: undefined"
    NO_OBJECT = "an address of no object, or a write to a constant: undefined"
    SPURIOUS_FAILURE = "may fail though it finds what it expects: a nondeterministic choice"
    ATOMICITY = "one step for all threads; with a memory order it does not race with such another"


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    operands: tuple[Kind, ...]
    result: Kind
    edges: tuple[Edge, ...] = ()

    @property
    def is_fixed(self) -> bool:
        """Whether its operands fix the result, so that a proof may rest on it."""
        return Edge.CHOSEN not in self.edges and Edge.LAST_DIGIT not in self.edges

    def __str__(self) -> str:
        return self.name


_I, _F, _P, _B, _A = Kind.INTEGER, Kind.FLOAT, Kind.POINTER, Kind.BOOLEAN, Kind.ANY
_FLOATING = (Edge.ROUNDS, Edge.SIGNED_ZERO, Edge.NAN, Edge.SUBNORMAL)
_DIVIDING = (Edge.DIVISION_BY_ZERO, Edge.QUOTIENT_TOO_LARGE)


def _all(
    names: str, operands: tuple[Kind, ...], result: Kind, *edges: Edge, prefix: str = ""
) -> Iterable[Operation]:
    return (Operation(prefix + name, operands, result, edges) for name in names.split())


def _table() -> Iterable[Operation]:
    # integers
    yield from _all("add sub mul", (_I, _I), _I, Edge.WRAPS)
    yield from _all("and or xor", (_I, _I), _I)
    yield from _all("udiv urem", (_I, _I), _I, Edge.DIVISION_BY_ZERO)
    yield from _all("sdiv srem", (_I, _I), _I, *_DIVIDING)
    yield from _all("shl lshr ashr", (_I, _I), _I, Edge.SHIFT_PAST_WIDTH)
    # floating point
    yield from _all("fadd fsub fmul fdiv frem", (_F, _F), _F, *_FLOATING)
    yield from _all("fneg", (_F,), _F, Edge.SIGNED_ZERO, Edge.NAN)
    # comparisons
    yield from _all("eq ne ugt uge ult ule sgt sge slt sle", (_I, _I), _B, prefix="icmp ")
    yield from _all(
        "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true",
        (_F, _F),
        _B,
        Edge.SIGNED_ZERO,
        Edge.NAN,
        prefix="fcmp ",
    )
    # casts
    yield from _all("trunc", (_I,), _I, Edge.WRAPS)
    yield from _all("zext sext", (_I,), _I)
    yield from _all("ptrtoint", (_P,), _I, Edge.WRAPS)
    yield from _all("inttoptr", (_I,), _P, Edge.WRAPS)
    yield from _all("addrspacecast", (_P,), _P)
    yield from _all("bitcast", (_A,), _A, Edge.NAN)
    yield from _all("fptosi fptoui", (_F,), _I, Edge.OUT_OF_RANGE)
    yield from _all("sitofp uitofp", (_I,), _F, Edge.ROUNDS)
    yield from _all("fptrunc fpext", (_F,), _F, *_FLOATING)
    # choices and members
    yield Operation("select", (_B, _A, _A), _A)
    yield Operation("freeze", (_A,), _A, (Edge.UNDEFINED_OPERAND,))
    yield Operation("extractvalue", (Kind.AGGREGATE,), _A)
    yield Operation("insertvalue", (Kind.AGGREGATE, _A), Kind.AGGREGATE)
    yield Operation("extractelement", (Kind.VECTOR, _I), _A, (Edge.NO_SUCH_ELEMENT,))
    yield Operation("insertelement", (Kind.VECTOR, _A, _I), Kind.VECTOR, (Edge.NO_SUCH_ELEMENT,))
    yield Operation(
        "shufflevector", (Kind.VECTOR, Kind.VECTOR), Kind.VECTOR, (Edge.UNDEFINED_OPERAND,)
    )
    # memory
    yield Operation("getelementptr", (_P, _I), _P, (Edge.OUT_OF_BOUNDS, Edge.WRAPS))
    yield Operation("alloca", (_I,), _P)
    yield Operation("load", (_P,), _A, (Edge.NO_OBJECT,))
    yield Operation("store", (_A, _P), Kind.NONE, (Edge.NO_OBJECT,))
    yield Operation("load atomic", (_P,), _A, (Edge.NO_OBJECT, Edge.ATOMICITY))
    yield Operation("store atomic", (_A, _P), Kind.NONE, (Edge.NO_OBJECT, Edge.ATOMICITY))
    yield Operation("memcpy", (_P, _P, _I), Kind.NONE, (Edge.NO_OBJECT,))
    yield Operation("memset", (_P, _I, _I), Kind.NONE, (Edge.NO_OBJECT,))
    yield Operation("fence", (), Kind.NONE)
    yield from _all(
        "xchg add sub and nand or xor max min umax umin uinc_wrap udec_wrap usub_cond usub_sat",
        (_P, _I),
        _I,
        Edge.NO_OBJECT,
        Edge.ATOMICITY,
        Edge.WRAPS,
        prefix="atomicrmw ",
    )
    yield from _all(
        "fadd fsub fmax fmin",
        (_P, _F),
        _F,
        Edge.NO_OBJECT,
        Edge.ATOMICITY,
        *_FLOATING,
        prefix="atomicrmw ",
    )
    yield Operation("cmpxchg", (_P, _A, _A), Kind.PAIR, (Edge.NO_OBJECT, Edge.ATOMICITY))
    yield Operation(
        "cmpxchg weak",
        (_P, _A, _A),
        Kind.PAIR,
        (Edge.NO_OBJECT, Edge.ATOMICITY, Edge.SPURIOUS_FAILURE),
    )
    # vectors: element by element
    yield from _all(
        "binary icmp fcmp cast select fneg intrinsic",
        (Kind.VECTOR,),
        Kind.VECTOR,
        prefix="vector ",
    )
    yield from _intrinsics()


def _intrinsics() -> Iterable[Operation]:
    def of(
        names: str, operands: tuple[Kind, ...], result: Kind, *edges: Edge
    ) -> Iterable[Operation]:
        return _all(names, operands, result, *edges, prefix="llvm.")

    yield from of("ctpop bswap bitreverse", (_I,), _I)
    yield from of("ctlz cttz", (_I, _B), _I, Edge.ZERO_IS_POISON)
    yield from of("abs", (_I, _B), _I, Edge.WRAPS)
    yield from of("smax smin umax umin", (_I, _I), _I)
    yield from of("fshl fshr", (_I, _I, _I), _I)
    yield from of(
        "sadd.with.overflow ssub.with.overflow smul.with.overflow"
        " uadd.with.overflow usub.with.overflow umul.with.overflow",
        (_I, _I),
        Kind.PAIR,
    )
    yield from of("sadd.sat ssub.sat uadd.sat usub.sat", (_I, _I), _I)
    yield from of("sshl.sat ushl.sat", (_I, _I), _I, Edge.SHIFT_PAST_WIDTH)
    yield from of("expect", (_I, _I), _I)
    yield from of("is.constant", (_A,), _B, Edge.CHOSEN)
    yield from of("objectsize", (_P, _B), _I, Edge.CHOSEN)
    yield from of("threadlocal.address", (_P,), _P)
    yield from of("ptrmask", (_P, _I), _P)
    yield from of("frameaddress returnaddress stacksave", (), _P, Edge.CHOSEN)
    yield from of("stackrestore", (_P,), Kind.NONE)
    yield from of("is.fpclass", (_F, _I), _B)
    yield from of("fabs", (_F,), _F, Edge.SIGNED_ZERO, Edge.NAN)
    yield from of("copysign", (_F, _F), _F, Edge.SIGNED_ZERO, Edge.NAN)
    yield from of("fma", (_F, _F, _F), _F, *_FLOATING)
    yield from of("fmuladd", (_F, _F, _F), _F, *_FLOATING, Edge.CHOSEN)
    yield from of("minnum maxnum", (_F, _F), _F, Edge.NAN, Edge.CHOSEN)
    yield from of("minimum maximum", (_F, _F), _F, Edge.NAN, Edge.SIGNED_ZERO)
    yield from of(
        "ceil floor trunc rint nearbyint round roundeven", (_F,), _F, Edge.SIGNED_ZERO, Edge.NAN
    )
    yield from of("sqrt", (_F,), _F, *_FLOATING)
    yield from of("ldexp", (_F, _I), _F, *_FLOATING)
    yield from of("powi", (_F, _I), _F, *_FLOATING, Edge.LAST_DIGIT)
    yield from of("frexp modf", (_F,), Kind.AGGREGATE, Edge.SIGNED_ZERO, Edge.NAN)
    yield from of("sincos", (_F,), Kind.AGGREGATE, *_FLOATING, Edge.LAST_DIGIT)
    yield from of("lround llround lrint llrint", (_F,), _I, Edge.OUT_OF_RANGE)
    yield from of("fptosi.sat fptoui.sat", (_F,), _I, Edge.NAN)
    yield from of(
        "exp exp2 exp10 log log2 log10 sin cos tan asin acos atan sinh cosh tanh",
        (_F,),
        _F,
        *_FLOATING,
        Edge.LAST_DIGIT,
    )
    yield from of("pow atan2", (_F, _F), _F, *_FLOATING, Edge.LAST_DIGIT)


OPERATIONS: Final[dict[str, Operation]] = {operation.name: operation for operation in _table()}

_BY_CLASS: Final[dict[type[Instruction], str]] = {
    StackSlot: "alloca",
    CopyMemory: "memcpy",
    SetMemory: "memset",
    Offset: "getelementptr",
    Freeze: "freeze",
    Fence: "fence",
    ExtractField: "extractvalue",
    InsertField: "insertvalue",
    ExtractElement: "extractelement",
    InsertElement: "insertelement",
    Shuffle: "shufflevector",
}


def operation_of(instruction: Instruction) -> Operation | None:
    """What an instruction computes; None for control flow, calls, and what the table lacks."""
    name = _BY_CLASS.get(type(instruction)) or _name_of(instruction)
    return None if name is None else OPERATIONS.get(name)


def _name_of(instruction: Instruction) -> str | None:
    result = instruction.result
    is_vector = result is not None and isinstance(result.type, VectorType)
    match instruction:
        case Load():
            return "load atomic" if instruction.atomic else "load"
        case Store():
            return "store atomic" if instruction.atomic else "store"
        case AtomicUpdate():
            return f"atomicrmw {instruction.operation}"
        case CompareExchange():
            return "cmpxchg weak" if instruction.weak else "cmpxchg"
        case Binary():
            return "vector binary" if is_vector else instruction.operation
        case Compare():
            word = "fcmp" if isinstance(_scalar(instruction), FloatType) else "icmp"
            return f"vector {word}" if is_vector else f"{word} {instruction.predicate}"
        case Cast():
            return "vector cast" if is_vector else instruction.operation
        case Negate():
            return "vector fneg" if is_vector else "fneg"
        case Select():
            return "vector select" if is_vector else "select"
        case Intrinsic():
            return "vector intrinsic" if is_vector else f"llvm.{instruction.name}"
    return None


def _scalar(compare: Compare) -> object:
    type_ = compare.left.type
    return type_.element if isinstance(type_, VectorType) else type_
