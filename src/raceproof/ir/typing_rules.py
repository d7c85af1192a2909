"""What types the operands and the result of each instruction must have.

A rule is a function that yields one line for each broken demand; `type_errors` finds the rule by
the instruction's class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from raceproof.ir.instructions import (
    Assembly,
    AtomicUpdate,
    Binary,
    Branch,
    Call,
    Cast,
    Compare,
    CompareExchange,
    CopyMemory,
    ExtractElement,
    ExtractField,
    Freeze,
    IndirectJump,
    InsertElement,
    InsertField,
    Instruction,
    Load,
    Negate,
    Offset,
    Phi,
    Return,
    Select,
    SetMemory,
    Shuffle,
    StackSlot,
    Store,
    Switch,
)
from raceproof.ir.program import Function
from raceproof.ir.types import (
    I1,
    I8,
    POINTER,
    VOID,
    ArrayType,
    FloatType,
    IntType,
    PointerType,
    StructType,
    Type,
    VectorType,
)
from raceproof.ir.values import Undefined

Errors = Iterator[str]
Kind = type[Type] | tuple[type[Type], ...]

_CAST_KINDS: dict[str, tuple[Kind, Kind]] = {
    "trunc": (IntType, IntType),
    "zext": (IntType, IntType),
    "sext": (IntType, IntType),
    "ptrtoint": (PointerType, IntType),
    "inttoptr": (IntType, PointerType),
    "fptosi": (FloatType, IntType),
    "fptoui": (FloatType, IntType),
    "sitofp": (IntType, FloatType),
    "uitofp": (IntType, FloatType),
    "fptrunc": (FloatType, FloatType),
    "fpext": (FloatType, FloatType),
}
_ORDERS = frozenset({"unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"})


def type_errors(instruction: Instruction, function: Function) -> Errors:
    """One line for each operand of a wrong type."""
    if isinstance(instruction, Return):
        value = instruction.value
        yield from _same(VOID if value is None else value.type, function.type.result, "the result")
        return
    rule = _RULES.get(type(instruction))
    if rule is not None:
        yield from rule(instruction)


def scalar(type_: Type) -> Type:
    """The element type of a vector; operations on vectors act on each element."""
    return type_.element if isinstance(type_, VectorType) else type_


def member_type(type_: Type, path: tuple[int, ...]) -> Type | None:
    """The type of a member inside an aggregate; None if there is no such member."""
    for index in path:
        if isinstance(type_, StructType) and index < len(type_.fields):
            type_ = type_.fields[index]
        elif isinstance(type_, ArrayType | VectorType) and index < type_.count:
            type_ = type_.element
        else:
            return None
    return type_


def _same(found: Type | None, expected: Type | None, what: str) -> Errors:
    if found != expected:
        yield f"{what} is {found}, expected {expected}"


def _kind(type_: Type, kind: Kind, what: str) -> Errors:
    if not isinstance(scalar(type_), kind):
        yield f"{what} is {type_}"


def _result(i: Instruction, type_: Type | None) -> Errors:
    yield from _same(None if i.result is None else i.result.type, type_, "the result")


def _order(order: str, allowed_empty: bool) -> Errors:
    if order not in _ORDERS and not (allowed_empty and order == ""):
        yield f"{order!r} is not a memory order"


def _slot(i: StackSlot) -> Errors:
    yield from _result(i, POINTER)
    yield from _kind(i.count.type, IntType, "the count")


def _load(i: Load) -> Errors:
    yield from _result(i, i.type)
    yield from _same(i.pointer.type, POINTER, "the address")
    yield from _order(i.atomic, allowed_empty=True)


def _store(i: Store) -> Errors:
    yield from _same(i.pointer.type, POINTER, "the address")
    yield from _order(i.atomic, allowed_empty=True)


def _update(i: AtomicUpdate) -> Errors:
    yield from _same(i.pointer.type, POINTER, "the address")
    yield from _result(i, i.value.type)
    yield from _order(i.atomic, allowed_empty=False)


def _exchange(i: CompareExchange) -> Errors:
    yield from _same(i.pointer.type, POINTER, "the address")
    yield from _same(i.replacement.type, i.expected.type, "the replacement")
    yield from _result(i, StructType((i.expected.type, I1)))
    yield from _order(i.atomic, allowed_empty=False)


def _copy(i: CopyMemory) -> Errors:
    yield from _same(i.target.type, POINTER, "the target")
    yield from _same(i.source.type, POINTER, "the source")
    yield from _kind(i.size.type, IntType, "the size")


def _set(i: SetMemory) -> Errors:
    yield from _same(i.target.type, POINTER, "the target")
    yield from _same(i.byte.type, I8, "the byte")
    yield from _kind(i.size.type, IntType, "the size")


def _offset(i: Offset) -> Errors:
    yield from _kind(i.base.type, PointerType, "the base")
    for index, scale in i.terms:
        yield from _kind(index.type, IntType, "an index")
        if not scale:
            yield "an index has no scale"


def _binary(i: Binary) -> Errors:
    yield from _same(i.right.type, i.left.type, "the right side")
    yield from _result(i, i.left.type)
    yield from _kind(i.left.type, FloatType if i.operation[0] == "f" else IntType, "the left side")


def _compare(i: Compare) -> Errors:
    yield from _same(i.right.type, i.left.type, "the right side")
    left = i.left.type
    yield from _result(i, VectorType(I1, left.count) if isinstance(left, VectorType) else I1)


def _cast(i: Cast) -> Errors:
    assert i.result is not None
    source, target = _CAST_KINDS.get(i.operation, (Type, Type))
    yield from _kind(i.value.type, source, "the value")
    yield from _kind(i.result.type, target, "the result")
    before, after = scalar(i.value.type), scalar(i.result.type)
    if isinstance(before, IntType | FloatType) and isinstance(after, IntType | FloatType):
        if i.operation in ("trunc", "fptrunc") and before.bits <= after.bits:
            yield "does not become narrower"
        if i.operation in ("zext", "sext", "fpext") and before.bits >= after.bits:
            yield "does not become wider"


def _copied(i: Negate | Freeze) -> Errors:
    yield from _result(i, i.value.type)


def _select(i: Select) -> Errors:
    yield from _same(scalar(i.condition.type), I1, "the condition")
    yield from _same(i.if_false.type, i.if_true.type, "the second value")
    yield from _result(i, i.if_true.type)


def _phi(i: Phi) -> Errors:
    for _, value in i.incoming:
        yield from _result(i, value.type)


def _extract_field(i: ExtractField) -> Errors:
    yield from _result(i, member_type(i.aggregate.type, i.path))


def _insert_field(i: InsertField) -> Errors:
    yield from _result(i, i.aggregate.type)
    yield from _same(i.value.type, member_type(i.aggregate.type, i.path), "the member")


def _extract_element(i: ExtractElement) -> Errors:
    yield from _result(i, scalar(i.vector.type))
    yield from _kind(i.index.type, IntType, "the index")


def _insert_element(i: InsertElement) -> Errors:
    yield from _result(i, i.vector.type)
    yield from _same(i.value.type, scalar(i.vector.type), "the element")
    yield from _kind(i.index.type, IntType, "the index")


def _shuffle(i: Shuffle) -> Errors:
    yield from _same(i.right.type, i.left.type, "the second vector")
    yield from _result(i, VectorType(scalar(i.left.type), len(i.mask)))
    count = i.left.type.count if isinstance(i.left.type, VectorType) else 0
    if any(not -1 <= index < 2 * count for index in i.mask):
        yield "picks an element that is not there"


def _call(i: Call) -> Errors:
    yield from _same(i.callee.type, POINTER, "the callee")
    type_ = i.function_type
    yield from _same(VOID if i.result is None else i.result.type, type_.result, "the result")
    if len(i.arguments) < len(type_.parameters) or (
        len(i.arguments) > len(type_.parameters) and not type_.variadic
    ):
        yield f"{len(i.arguments)} arguments for {type_}"
    for argument, parameter in zip(i.arguments, type_.parameters, strict=False):
        yield from _same(argument.type, parameter, "an argument")
    for index, _ in i.by_value:
        yield from _same(i.arguments[index].type, POINTER, "a struct passed by value")


def _branch(i: Branch) -> Errors:
    yield from _same(i.condition.type, I1, "the condition")


def _switch(i: Switch) -> Errors:
    yield from _kind(i.value.type, IntType, "the value")
    bits = i.value.type.bits if isinstance(i.value.type, IntType) else 0
    values = [value for value, _ in i.cases]
    if len(set(values)) != len(values) or any(not 0 <= v < 1 << bits for v in values):
        yield "a case is there twice or does not fit the type"


def _indirect(i: IndirectJump) -> Errors:
    if not isinstance(i.address, Undefined):
        yield from _same(i.address.type, POINTER, "the address")


def _assembly(i: Assembly) -> Errors:
    if i.result is not None and i.result.type == VOID:
        yield "has a result without a value"


_RULES: dict[type[Instruction], Callable[[Any], Errors]] = {
    StackSlot: _slot,
    Load: _load,
    Store: _store,
    AtomicUpdate: _update,
    CompareExchange: _exchange,
    CopyMemory: _copy,
    SetMemory: _set,
    Offset: _offset,
    Binary: _binary,
    Compare: _compare,
    Cast: _cast,
    Negate: _copied,
    Freeze: _copied,
    Select: _select,
    Phi: _phi,
    ExtractField: _extract_field,
    InsertField: _insert_field,
    ExtractElement: _extract_element,
    InsertElement: _insert_element,
    Shuffle: _shuffle,
    Call: _call,
    Branch: _branch,
    Switch: _switch,
    IndirectJump: _indirect,
    Assembly: _assembly,
}
