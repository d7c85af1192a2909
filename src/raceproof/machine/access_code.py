"""The source of memory accesses.

Exact code finds the object in the page table and lets `struct` check the bounds: a freed object has
no bytes, a constant one cannot be written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raceproof.ir import (
    AtomicUpdate,
    Cast,
    CompareExchange,
    CopyMemory,
    FloatType,
    Freeze,
    GlobalAddress,
    Instruction,
    IntType,
    Load,
    Offset,
    PointerType,
    Register,
    SetMemory,
    Store,
    Type,
    Value,
)
from raceproof.machine.operators import update
from raceproof.machine.segments import ATOMIC, WRITE, SegmentKind

if TYPE_CHECKING:
    from raceproof.machine.compiler import FunctionCompiler

AccessWriter = Callable[["FunctionCompiler", Any], None]


def is_private(c: FunctionCompiler, pointer: Value) -> bool:
    """Whether we know here that no other thread can reach these bytes, or no thread writes them."""
    while isinstance(pointer, Register):
        if pointer in c.private:
            return True
        match c.definitions.get(pointer):
            case Offset(base=base):
                pointer = base
            case Freeze(value=value):
                pointer = value
            case Cast(operation="bitcast", value=value):
                pointer = value
            case _:
                return False
    return isinstance(pointer, GlobalAddress) and c.around.globals[pointer.name].is_constant


def frame_value(c: FunctionCompiler, value: Value) -> str:
    """The source of an operand at the start of a segment, for its `peek`."""
    text = c.value(value)
    return f"r[{value.index}]" if isinstance(value, Register) else text


def announce(
    c: FunctionCompiler,
    i: Instruction,
    accesses: list[tuple[Value, int | Value, int]],
    *,
    is_choice: bool = False,
) -> None:
    """Start a visible step for these accesses (pointer, size, flags), if one can be seen.

    `is_choice`: start one in any case, since something is to be chosen in it.
    """
    seen = [access for access in accesses if not is_private(c, access[0])]
    if not seen and not is_choice:
        return
    draft = c.special(SegmentKind.ACCESS, i)
    ranges = []
    for pointer, size, flags in seen:
        length = str(size) if isinstance(size, int) else frame_value(c, size)
        address = frame_value(c, pointer)
        if c.is_open:
            ranges.append(f"*access({address}, {length}, {flags})")
        else:
            ranges.append(f"({address}, {address} + {length}, {flags})")
    draft.peek = f"({', '.join(ranges)},)" if ranges else "()"


def _unit(c: FunctionCompiler, type_: Type) -> str | None:
    """The letter for `struct`, if a value of this type is one unit."""
    match type_:
        case IntType(bits) if bits in (1, 8, 16, 32, 64):
            return {1: "B", 8: "B", 16: "H", 32: "I", 64: "Q"}[bits]
        case PointerType():
            return "I" if c.layout.pointer_size == 4 else "Q"
        case FloatType(bits) if bits in (32, 64):
            return {32: "f", 64: "d"}[bits]
    return None


def read_expression(c: FunctionCompiler, type_: Type, pointer: Value) -> str:
    """The value in memory; emits what must come before it."""
    address = c.value(pointer)
    unit = _unit(c, type_)
    size = c.layout.store_size(type_)
    if c.is_open or unit is None:
        kind = c.name_for("type", type_)
        return f"load({address}, {size}, {kind})"
    place, offset = _locate(c, pointer, address, size)
    text = f"unpack_{unit}({place}.data, {offset})[0]"
    slowly = f"load({address}, {size}, {c.name_for('type', type_)})"
    return f"{text} if {place}.mask is None else {slowly}"


def write_lines(c: FunctionCompiler, type_: Type, pointer: Value, text: str) -> None:
    address = c.value(pointer)
    unit = _unit(c, type_)
    size = c.layout.store_size(type_)
    if c.is_open or unit is None:
        c.line(f"store({address}, {size}, {c.name_for('type', type_)}, {text})")
        return
    place, offset = _locate(c, pointer, address, size)
    if unit == "f":
        text = f"round_float(32, {text})"
    c.line(f"pack_{unit}({place}.data, {offset}, {text})")
    c.line(f"{place}.frozen = None")
    c.line(f"if {place}.mask is not None: {place}.learn({offset}, {size})")


def _locate(c: FunctionCompiler, pointer: Value, address: str, size: int) -> tuple[str, str]:
    """Names of the object and of the offset in it; a global's object is known beforehand."""
    if isinstance(pointer, GlobalAddress):
        variable = c.around.globals[pointer.name]
        if not variable.is_thread_local and 0 <= pointer.offset <= variable.size - size:
            return c.name_for("object", c.around.object_of(pointer.name)), str(pointer.offset)
    c.line(f"o = P[{address} >> 10]")
    return "o", f"{address} - o.base"


def _load(c: FunctionCompiler, i: Load) -> None:
    size = c.layout.store_size(i.type)
    announce(c, i, [(i.pointer, size, ATOMIC if i.atomic else 0)])
    c.define(i.result, read_expression(c, i.type, i.pointer))


def _store(c: FunctionCompiler, i: Store) -> None:
    size = c.layout.store_size(i.value.type)
    announce(c, i, [(i.pointer, size, WRITE | (ATOMIC if i.atomic else 0))])
    write_lines(c, i.value.type, i.pointer, c.value(i.value))


def _atomic_update(c: FunctionCompiler, i: AtomicUpdate) -> None:
    type_ = i.value.type
    announce(c, i, [(i.pointer, c.layout.store_size(type_), WRITE | ATOMIC)])
    c.line(f"old = {read_expression(c, type_, i.pointer)}")
    value = c.value(i.value)
    text = update(i.operation, type_, "old", value, c.pointer_bits)
    write_lines(c, type_, i.pointer, text)
    if i.result is not None:
        c.define(i.result, "old")


def _compare_exchange(c: FunctionCompiler, i: CompareExchange) -> None:
    """A weak one that could succeed fails all the same if that is chosen: before it has changed
    anything, so that its segment can be run again with the choice."""
    type_ = i.expected.type
    size = c.layout.store_size(type_)
    announce(c, i, [(i.pointer, size, WRITE | ATOMIC)], is_choice=i.weak)
    c.line(f"old = {read_expression(c, type_, i.pointer)}")
    expected, replacement = c.value(i.expected), c.value(i.replacement)
    c.line(f"same = old == {expected}")
    if i.weak:
        here = f"@{c.draft.number}@, {i.number}"
        c.line(f"if same is True and fails_spuriously({here}): same = False")
    write_lines(c, type_, i.pointer, f"select(same, {replacement}, old)")
    if i.result is not None:
        c.define(i.result, "(old, same)")


def _copy(c: FunctionCompiler, i: CopyMemory) -> None:
    announce(c, i, [(i.source, i.size, 0), (i.target, i.size, WRITE)])
    c.line(f"copy({c.value(i.target)}, {c.value(i.source)}, {c.value(i.size)})")


def _fill(c: FunctionCompiler, i: SetMemory) -> None:
    announce(c, i, [(i.target, i.size, WRITE)])
    c.line(f"fill({c.value(i.target)}, {c.value(i.byte)}, {c.value(i.size)})")


ACCESS_WRITERS: dict[type[Instruction], AccessWriter] = {
    Load: _load,
    Store: _store,
    AtomicUpdate: _atomic_update,
    CompareExchange: _compare_exchange,
    CopyMemory: _copy,
    SetMemory: _fill,
}
