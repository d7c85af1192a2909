"""What is understood of a program, one line an event, by function.

    transfer (bank.c:37)
      39  lock  bank.lock                    pthread_mutex_lock
      40  read  bank.accounts[from].balance

Source line, role, operands, and the function that was called.
"""

from collections.abc import Iterator
from typing import NamedTuple, TextIO

from raceproof.cli.operands import Operands
from raceproof.concurrency.accesses import Events
from raceproof.concurrency.effects import MemoryEffect, Product
from raceproof.concurrency.events import Event
from raceproof.ir import (
    Call,
    Function,
    FunctionAddress,
    Instruction,
    NullPointer,
    Program,
    Value,
)

_OBJECTS = frozenset({"lock", "condition", "barrier", "semaphore", "control"})
"""Operands that are the address of what the event is about."""

_COMMON = frozenset(Event.field_names)


class EventLine(NamedTuple):
    """One event of a function, ready to be printed."""

    place: str
    role: str
    operands: str
    by: str = ""


def print_events(program: Program, events: Events, out: TextIO) -> None:
    """The events of every function that has some, then the unknown functions."""
    for function in program.defined:
        operands = Operands(program, function)
        lines = [
            line
            for instruction in function.instructions
            for line in _lines(instruction, function, operands, events)
        ]
        if lines:
            _print_function(function, lines, out)
    unknown = _unknown_functions(program, events)
    if unknown:
        out.write("neither defined in the program nor known from a model:\n")
        for name, place in unknown.items():
            out.write(f"  {name} (called at {place})\n")


def _print_function(function: Function, lines: list[EventLine], out: TextIO) -> None:
    out.write(f"{function.display} ({function.position or 'no source'})\n")
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        text = (
            f"  {line.place:>{widths[0]}}  {line.role:<{widths[1]}}  "
            f"{line.operands:<{widths[2]}}  {line.by}"
        )
        out.write(text.rstrip() + "\n")
    out.write("\n")


def _lines(
    instruction: Instruction, function: Function, operands: Operands, events: Events
) -> Iterator[EventLine]:
    place = _place(instruction, function)
    by = ""
    if isinstance(instruction, Call):
        event = events.of(instruction)
        if event is not None:
            by = operands.value(instruction.callee)
            if event.model.role is not None:
                yield EventLine(place, event.model.role, _event_text(event, operands), by)
            for callback in event.callbacks:
                yield EventLine(place, "callback", operands.value(callback.function), by)
        elif not isinstance(instruction.callee, FunctionAddress):
            yield EventLine(place, "call", operands.value(instruction.callee))
    for effect in events.effects(instruction):
        if not isinstance(effect.pointer, NullPointer):
            yield EventLine(place, *_effect_text(effect, operands), by)


def _place(instruction: Instruction, function: Function) -> str:
    """The line, with the file if it is not the function's own."""
    position = instruction.position
    if position is None:
        return "?"
    if function.position is not None and position.file == function.position.file:
        return str(position.line)
    return str(position)


def _event_text(event: Event, operands: Operands) -> str:
    """The fields of an event that differ from their defaults, objects first by their place."""
    words = []
    for field in event.field_names:
        content = getattr(event, field)
        if field in _COMMON or isinstance(content, NullPointer | Function | None):
            continue
        name = field.replace("_", " ")
        if field in _OBJECTS:
            words.append(operands.place(content))
        elif isinstance(content, Value):
            words.append(f"{name} {operands.value(content)}")
        elif isinstance(content, Product):
            words.append(f"{name} {_product(content, operands)}")
        elif content is True:
            words.append(name)
        elif content != getattr(type(event), field, None):
            words.append(f"{name} {content}")
    return ", ".join(words)


def _product(size: Product, operands: Operands) -> str:
    factors = [operands.value(factor) for factor in size.factors]
    return " * ".join([*factors, *([str(size.scale)] if size.scale != 1 else [])])


def _effect_text(effect: MemoryEffect, operands: Operands) -> tuple[str, str]:
    role = "update" if effect.is_read and effect.is_write else "write"
    if not effect.is_write:
        role = "read"
    place = operands.place(effect.pointer, effect.constant_size)
    return f"atomic {role}" if effect.is_atomic else role, place


def _unknown_functions(program: Program, events: Events) -> dict[str, str]:
    """Called functions without a body and without a model, and where they are first called."""
    unknown: dict[str, str] = {}
    for function, instruction in program.all_instructions():
        if isinstance(instruction, Call):
            callee = _callee(instruction, program)
            if callee is not None and not callee.is_defined and events.of(instruction) is None:
                unknown.setdefault(callee.display, str(instruction.position or function.display))
    return unknown


def _callee(call: Call, program: Program) -> Function | None:
    callee = call.callee
    return program.functions.get(callee.name) if isinstance(callee, FunctionAddress) else None
