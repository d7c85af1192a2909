"""What people call the things of an execution: bytes, locks, threads, values."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from raceproof.ir import (
    AtomicUpdate,
    CompareExchange,
    FloatType,
    Instruction,
    IntType,
    Load,
    PointerType,
    Program,
    Store,
    Type,
)
from raceproof.ir.names import block_name, heap_type
from raceproof.semantics.integers import to_signed
from raceproof.verdict import BaseKind, Location, Site, Thread

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.memory import MemoryObject
    from raceproof.machine.segments import AccessRange
    from raceproof.machine.thread import ConcreteThread

_MOST_BYTES = 16
"""Of a value that has no type, shown."""


def location_of(machine: Machine, access: AccessRange) -> Location:
    target = machine.memory.object_at(access[0])
    assert target is not None
    start, end = access[0] - target.base, access[1] - target.base
    return Location(
        target.kind, target.source, _name(machine.program, target, start, end), start, end
    )


def name_of(machine: Machine, address: int, size: int = 1) -> str:
    """The bytes at an address."""
    target = machine.memory.object_at(address)
    if target is None:
        return f"{address:#x}"
    start = address - target.base
    return _name(machine.program, target, start, start + size)


def _name(program: Program, target: MemoryObject, start: int, end: int) -> str:
    variable = program.globals.get(target.source)
    if variable is not None and variable.debug_type:
        return variable.display + program.debug.path(variable.debug_type, start, end - start)
    number = target.source.rpartition(":")[2]
    if target.kind is BaseKind.HEAP and number.isdigit():
        return block_name(
            program, int(number), _path(program, heap_type(program, int(number)), start, end)
        )
    if target.kind is BaseKind.STACK and number.isdigit():
        key = str(getattr(program.instruction(int(number)), "debug_type", ""))
        return target.name + _path(program, key, start, end)
    return f"{target.name}+{start}" if start else target.name


def _path(program: Program, type_: str, start: int, end: int) -> str:
    if type_:
        return program.debug.path(type_, start, end - start)
    return f"+{start}" if start else ""


def lock_name(machine: Machine, key: object) -> str:
    """A lock by its key; the C library's own members of it (`__data`) are of no interest."""
    if isinstance(key, tuple) and len(key) == 2:
        if isinstance(key[1], int):
            return name_of(machine, key[1]).partition(".__")[0]
        return str(key[1])
    return str(key)


def thread_of(machine: Machine, thread: ConcreteThread) -> Thread:
    """The abstract thread that a concrete one is an instance of."""
    chain: list[Site] = []
    current = thread
    while current.creator >= 0:
        function = machine.program.function_of(current.creator)
        place = current.creator if current.created_at < 0 else current.created_at
        position = machine.program.instruction(place).position
        chain.append(Site(current.creator, function.display, position))
        current = machine.threads[current.parent]
    return Thread(thread.entry, tuple(reversed(chain)))


def value_text(machine: Machine, instruction: Instruction, data: bytes) -> str:
    """Bytes that the instruction reads or writes, as a value of its type."""
    match _type_of(instruction):
        case IntType(bits) if bits <= 8 * len(data):
            return str(to_signed(int.from_bytes(data, "little") & (1 << bits) - 1, bits))
        case PointerType():
            return _pointer_text(machine, int.from_bytes(data, "little"))
        case FloatType(bits) if bits in (32, 64):
            return f"{struct.unpack('<f' if bits == 32 else '<d', data)[0]:g}"
    return _bytes_text(data)


def _type_of(instruction: Instruction) -> Type | None:
    match instruction:
        case Load(type=type_):
            return type_
        case Store(value=value):
            return value.type
        case AtomicUpdate(value=value) | CompareExchange(expected=value):
            return value.type
    return None


def _pointer_text(machine: Machine, address: int) -> str:
    if address == 0:
        return "NULL"
    function = machine.function_at(address)
    if function is not None:
        return function.display
    target = machine.memory.object_at(address)
    return f"{address:#x}" if target is None else f"&{name_of(machine, address)}"


def _bytes_text(data: bytes) -> str:
    text, end, _ = data.partition(b"\0")
    if text and len(text) + len(end) == len(data) and text.isascii():
        shown = text.decode()
        if shown.isprintable():
            return f'"{shown}"'
    dots = "..." if len(data) > _MOST_BYTES else ""
    return data[:_MOST_BYTES].hex(" ") + dots
