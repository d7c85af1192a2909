"""Calls that change what no thread sees: functions that threads must not call at the same time.

    void *log(void *p) { struct tm *t = localtime(&now); ... }      // run by two threads

Both calls write one object of the C library, although no argument leads to it. An engine that does
not look at such objects proves nothing about a program in which a thread may make such a call.
"""

from __future__ import annotations

from raceproof.concurrency.accesses import Events
from raceproof.ir import (
    AggregateConstant,
    Call,
    Constant,
    ConstantExpression,
    FunctionAddress,
    Value,
)


def hidden_calls(events: Events) -> tuple[str, ...]:
    """The functions with a hidden object that some thread besides the first may call."""
    program = events.program
    work = sorted(_loose_functions(events))
    seen = set(work)
    found: set[str] = set()
    while work:
        name = work.pop()
        function = program.functions.get(name)
        if function is None:
            continue
        for instruction in function.instructions:
            if isinstance(instruction, Call) and isinstance(instruction.callee, FunctionAddress):
                event = events.of(instruction)
                if event is not None and event.hidden_object:
                    found.add(instruction.callee.name)
                if instruction.callee.name not in seen:
                    seen.add(instruction.callee.name)
                    work.append(instruction.callee.name)
    return tuple(sorted(found))


def _loose_functions(events: Events) -> set[str]:
    """Those whose address is kept or handed on: a thread may begin there, or get there."""
    work: list[Value] = []
    for variable in events.program.globals.values():
        if variable.initializer is not None:
            work.append(variable.initializer)
    for _, instruction in events.program.all_instructions():
        work.extend(
            instruction.arguments if isinstance(instruction, Call) else instruction.operands
        )
    found: set[str] = set()
    while work:
        match work.pop():
            case FunctionAddress(name=name):
                found.add(name)
            case AggregateConstant(elements=parts) | ConstantExpression(operands=parts):
                work.extend(part for part in parts if isinstance(part, Constant))
    return found
