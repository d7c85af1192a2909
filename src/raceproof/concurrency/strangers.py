"""Unknown code that may call back: functions without body and model that can get hold of functions.

    static const struct operations operations = {open_server, read_request};
    run_server(&operations);              // nobody knows what run_server does

Such a call may run `open_server`, which nothing else calls, and all that it starts. An engine that
has no points-to analysis of its own to see what is handed over proves nothing about such programs.
"""

from __future__ import annotations

from collections.abc import Iterator

from raceproof.concurrency.accesses import Events
from raceproof.ir import (
    AggregateConstant,
    Call,
    Constant,
    ConstantExpression,
    FunctionAddress,
    Instruction,
    NullPointer,
    PointerType,
    Value,
)


def strangers(events: Events) -> tuple[str, ...]:
    """The functions that nobody knows and that may call functions of the program."""
    program = events.program
    found: dict[str, None] = {}
    for _, instruction in program.all_instructions():
        if isinstance(instruction, Call) and isinstance(instruction.callee, FunctionAddress):
            callee = program.functions.get(instruction.callee.name)
            is_defined = callee is not None and callee.is_defined
            if not is_defined and not _is_understood(instruction, events):
                if any(_is_pointer(argument) for argument in instruction.arguments):
                    found[instruction.callee.name] = None
    return tuple(sorted(found)) if found and _has_loose_functions(events) else ()


def _is_understood(call: Call, events: Events) -> bool:
    """Is there a model, and does it leave nothing out?"""
    event = events.of(call)
    return event is not None and not event.model.caveat


def _is_pointer(value: Value) -> bool:
    return isinstance(value.type, PointerType) and not isinstance(value, NullPointer)


def _has_loose_functions(events: Events) -> bool:
    """Is the address of some function kept or handed on, but to a call that is understood?"""
    program = events.program
    for variable in program.globals.values():
        if variable.initializer is not None and _names_body(events, variable.initializer):
            if not variable.name.startswith("llvm."):
                return True
    return any(
        _names_body(events, operand)
        for _, instruction in program.all_instructions()
        for operand in _loose_operands(instruction, events)
    )


def _loose_operands(instruction: Instruction, events: Events) -> Iterator[Value]:
    if isinstance(instruction, Call):
        if not _is_understood(instruction, events):
            yield from instruction.arguments
    else:
        yield from instruction.operands


def _names_body(events: Events, value: Value) -> bool:
    work: list[Value] = [value]
    while work:
        match work.pop():
            case FunctionAddress(name=name):
                function = events.program.functions.get(name)
                if function is not None and function.is_defined:
                    return True
            case AggregateConstant(elements=parts) | ConstantExpression(operands=parts):
                work.extend(part for part in parts if isinstance(part, Constant))
    return False
