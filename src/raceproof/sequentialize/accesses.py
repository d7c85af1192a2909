"""Loads, stores and what else touches memory, as C statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raceproof.ir import (
    AtomicUpdate,
    CompareExchange,
    CopyMemory,
    FloatType,
    GlobalAddress,
    Instruction,
    IntConstant,
    Intrinsic,
    Layout,
    Load,
    NextArgument,
    PointerType,
    SetMemory,
    StackSlot,
    Store,
    Type,
    Value,
)
from raceproof.sequentialize.c_text import c_type, leaves, wrapped
from raceproof.sequentialize.expressions import binary, compare
from raceproof.sequentialize.frames import PrintedFrame
from raceproof.sequentialize.writer import Touched


def read_leaf(type_: Type, start: str, frame: PrintedFrame) -> str:
    """The value of a scalar in memory."""
    match type_:
        case FloatType(bits=32):
            return f"get_float({start})"
        case FloatType(bits=64):
            return f"get_double({start})"
    name = c_type(type_)
    size = frame.layout.store_size(type_)
    text = f"get({start}, {size})"
    return wrapped(type_, text, frame.layout) if name != "uint64_t" else text


def write_leaf(type_: Type, start: str, value: str, frame: PrintedFrame) -> str:
    """The statement that stores a scalar."""
    match type_:
        case FloatType(bits=32):
            return f"put({start}, bits_of_float({value}), 4);"
        case FloatType(bits=64):
            return f"put({start}, bits_of_double({value}), 8);"
    return f"put({start}, {value}, {frame.layout.store_size(type_)});"


def moved(start: str, offset: int) -> str:
    return f"(address)({start} + {offset}u)" if offset else start


def touched(frame: PrintedFrame, pointer: Value, size: str, kind: str) -> list[Touched]:
    """The bytes at a pointer, unless no other thread can see them."""
    if frame.facts.is_private(pointer):
        return []
    is_shared = "1" if isinstance(pointer, GlobalAddress) else ""
    return [Touched(frame.address(pointer), size, kind, is_shared)]


def _visible(frame: PrintedFrame, *accesses: list[Touched]) -> None:
    found = [access for group in accesses for access in group]
    if found:
        frame.writer.visible(found, is_sync=False)


def _stack_slot(frame: PrintedFrame, i: StackSlot) -> None:
    assert i.result is not None
    size = frame.layout.size(i.type)
    count = f"{i.count.value * size}" if isinstance(i.count, IntConstant) else ""
    text = count or f"(uint64_t){frame.value(i.count)} * {size}"
    kind = "UNKNOWN | PRIVATE" if frame.facts.is_private_slot(i.result) else "UNKNOWN"
    frame.define(i.result, [f"slot(t, {text}, {kind})"])


def _load(frame: PrintedFrame, i: Load) -> None:
    size = frame.layout.store_size(i.type)
    kind = "ATOMIC_READ" if i.atomic else "READ"
    _visible(frame, touched(frame, i.pointer, str(size), kind))
    start = frame.address(i.pointer)
    parts = leaves(i.type, frame.layout)
    frame.define(i.result, [read_leaf(type_, moved(start, at), frame) for type_, at in parts])


def _store(frame: PrintedFrame, i: Store) -> None:
    size = frame.layout.store_size(i.value.type)
    kind = "ATOMIC_WRITE" if i.atomic else "WRITE"
    _visible(frame, touched(frame, i.pointer, str(size), kind))
    start = frame.address(i.pointer)
    parts = leaves(i.value.type, frame.layout)
    for (type_, at), text in zip(parts, frame.values(i.value), strict=True):
        frame.writer.line(write_leaf(type_, moved(start, at), text, frame))


def updated(operation: str, type_: Type, old: str, value: str, layout: Layout) -> str:
    """The new value of an atomic update."""
    if operation == "xchg":
        return value
    if operation in ("max", "min", "umax", "umin"):
        predicate = ("u" if operation[0] == "u" else "s") + (
            "gt" if operation.endswith("max") else "lt"
        )
        return f"{compare(predicate, type_, old, value, layout)} ? {old} : {value}"
    if operation == "nand":
        return wrapped(type_, f"~({old} & {value})", layout)
    return binary(operation, type_, old, value, layout)


def _atomic_update(frame: PrintedFrame, i: AtomicUpdate) -> None:
    type_ = i.value.type
    size = str(frame.layout.store_size(type_))
    _visible(frame, touched(frame, i.pointer, size, "ATOMIC_WRITE"))
    start = frame.address(i.pointer)
    new = updated(i.operation, type_, "old", frame.value(i.value), frame.layout)
    back = f" {frame.registers(i.result)[0]} = old;" if i.result is not None else ""
    frame.writer.line(
        f"{{ {c_type(type_)} old = {read_leaf(type_, start, frame)}; "
        f"{write_leaf(type_, start, new, frame)}{back} }}"
    )


def _compare_exchange(frame: PrintedFrame, i: CompareExchange) -> None:
    type_ = i.expected.type
    size = str(frame.layout.store_size(type_))
    _visible(frame, touched(frame, i.pointer, size, "ATOMIC_WRITE"))
    start = frame.address(i.pointer)
    expected, replacement = frame.value(i.expected), frame.value(i.replacement)
    back = ""
    if i.result is not None:
        value, same = frame.registers(i.result)
        back = f" {value} = old; {same} = same;"
    luck = " && !any(1)" if i.weak else ""
    frame.writer.line(
        f"{{ {c_type(type_)} old = {read_leaf(type_, start, frame)}; "
        f"uint8_t same = old == {expected}{luck}; "
        f"if (same) {write_leaf(type_, start, replacement, frame)}{back} }}"
    )


def _copy(frame: PrintedFrame, i: CopyMemory) -> None:
    size = frame.value(i.size)
    _visible(frame, touched(frame, i.source, size, "READ"), touched(frame, i.target, size, "WRITE"))
    frame.writer.line(f"copy({frame.address(i.target)}, {frame.address(i.source)}, {size});")


def _fill(frame: PrintedFrame, i: SetMemory) -> None:
    size = frame.value(i.size)
    _visible(frame, touched(frame, i.target, size, "WRITE"))
    frame.writer.line(f"fill({frame.address(i.target)}, {frame.value(i.byte)}, {size});")


# --- variable arguments ------------------------------------------------------------


def _va_start(frame: PrintedFrame, i: Intrinsic) -> None:
    """Lays the variable arguments out in memory, as the target's convention wants them."""
    step = frame.layout.pointer_size
    area = frame.writer.field(f"{frame.prefix}arguments", "address")
    size = sum(-(-frame.layout.store_size(given.type) // step) * step for given in frame.variadic)
    frame.writer.line(f"{area} = slot(t, {size}, PRIVATE);")
    at = 0
    for given in frame.variadic:
        for (type_, offset), text in zip(
            leaves(given.type, frame.layout), given.texts, strict=True
        ):
            frame.writer.line(write_leaf(type_, moved(area, at + offset), text, frame))
        at += -(-frame.layout.store_size(given.type) // step) * step
    start = frame.address(i.arguments[0])
    if step == 4:
        frame.writer.line(f"put({start}, {area}, 4);")
        return
    frame.writer.line(f"put({start}, 48, 4); /* all registers are used up */")
    frame.writer.line(f"put({moved(start, 4)}, 176, 4);")
    frame.writer.line(f"put({moved(start, 8)}, {area}, 8);")
    frame.writer.line(f"put({moved(start, 16)}, 0, 8);")


def _va_copy(frame: PrintedFrame, i: Intrinsic) -> None:
    target, source = map(frame.address, i.arguments)
    frame.writer.line(f"copy({target}, {source}, {4 if frame.layout.pointer_size == 4 else 24});")


def _va_end(_: PrintedFrame, __: Intrinsic) -> None:
    pass


VARIABLE_ARGUMENTS: dict[str, Callable[[PrintedFrame, Intrinsic], None]] = {
    "va_start": _va_start,
    "va_copy": _va_copy,
    "va_end": _va_end,
}


def _next_argument(frame: PrintedFrame, i: NextArgument) -> None:
    step = frame.layout.pointer_size
    place = moved(frame.address(i.list), 0 if step == 4 else 8)
    at = frame.writer.field(f"{frame.prefix}argument", "address")
    frame.writer.line(f"{at} = {read_leaf(PointerType(), place, frame)};")
    parts = leaves(i.type, frame.layout)
    frame.define(i.result, [read_leaf(type_, moved(at, o), frame) for type_, o in parts])
    size = -(-frame.layout.size(i.type) // step) * step
    frame.writer.line(f"put({place}, {at} + {size}u, {step});")


ACCESSES: dict[type[Instruction], Callable[[PrintedFrame, Any], None]] = {
    StackSlot: _stack_slot,
    Load: _load,
    Store: _store,
    AtomicUpdate: _atomic_update,
    CompareExchange: _compare_exchange,
    CopyMemory: _copy,
    SetMemory: _fill,
    NextArgument: _next_argument,
}
