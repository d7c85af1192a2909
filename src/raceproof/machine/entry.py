"""How a program begins: what `main` is called with, and whether the program calls it, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.ir import (
    AggregateConstant,
    ConstantExpression,
    Function,
    FunctionAddress,
    Program,
    Value,
)
from raceproof.machine.unknown import UNKNOWN

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

_MOST_ARGUMENTS = 64
"""Pointers in the `argv` of an open machine."""


def entry_arguments(machine: Machine, main: ConcreteThread, entry: Function) -> tuple[Any, ...]:
    """One argument, the program's name; on an open machine it is unknown how many."""
    size = machine.program.layout.pointer_size
    memory = machine.memory
    arguments: list[Any] = []
    if machine.is_open and entry.parameters:
        vector = memory.allocate(main.arena, _MOST_ARGUMENTS * size, "argv", "argv")
        arguments = [UNKNOWN, vector.base, vector.base]
    elif len(entry.parameters) >= 2:
        name = memory.allocate(main.arena, 8, "argv[0]", "argv0")
        memory.write(name.base, b"program\0")
        vector = memory.allocate(main.arena, 3 * size, "argv", "argv")
        memory.write(vector.base, name.base.to_bytes(size, "little") + bytes(2 * size))
        arguments = [1, vector.base, vector.base + size]
    elif entry.parameters:
        arguments = [1]
    return tuple(arguments[: len(entry.parameters)])


def calls_entry(program: Program) -> bool:
    """Whether the program itself may call its entry, and look at what it returns."""
    operands = [
        operand for _, instruction in program.all_instructions() for operand in instruction.operands
    ]
    initializers = [v.initializer for v in program.globals.values() if v.initializer is not None]
    return any(_mentions(value, program.entry) for value in (*operands, *initializers))


def _mentions(value: Value, name: str) -> bool:
    match value:
        case FunctionAddress():
            return value.name == name
        case AggregateConstant(elements=parts) | ConstantExpression(operands=parts):
            return any(_mentions(part, name) for part in parts)
    return False
