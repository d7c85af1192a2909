"""Functions that do nothing but allocate: each call of one is an allocation site of its own.

    void *xmalloc(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }

Without this all objects of a program that allocates through `xmalloc` would be one. A function
counts if all it returns are null and results of allocations that it gives to no one else.
"""

from __future__ import annotations

from raceproof.concurrency.accesses import Events
from raceproof.concurrency.events import Allocate
from raceproof.ir import (
    Call,
    Cast,
    Compare,
    Function,
    FunctionAddress,
    NullPointer,
    Phi,
    PointerType,
    Program,
    Register,
    Return,
    Select,
    SetMemory,
    Value,
)

_PASSES_ON = (Phi, Select, Cast)


def allocation_wrappers(program: Program, events: Events) -> set[str]:
    """Their names; wrappers of wrappers, too."""
    found: set[str] = set()
    candidates = [f for f in program.defined if isinstance(f.type.result, PointerType)]
    changed = True
    while changed:
        changed = False
        for function in candidates:
            if function.name not in found and _only_allocates(function, events, found):
                found.add(function.name)
                changed = True
    return found


def _only_allocates(function: Function, events: Events, wrappers: set[str]) -> bool:
    made_by = {i.result.index: i for i in function.instructions if i.result is not None}
    fresh: set[int] = set()
    work: list[Value] = [
        i.value for i in function.instructions if isinstance(i, Return) and i.value is not None
    ]
    allocates = False
    while work:
        value = work.pop()
        if isinstance(value, NullPointer):
            continue
        if not isinstance(value, Register):
            return False
        if value.index in fresh:
            continue
        maker = made_by.get(value.index)
        if isinstance(maker, Call) and _is_fresh(maker, events, wrappers):
            allocates = True
        elif isinstance(maker, Select):
            work += [maker.if_true, maker.if_false]
        elif isinstance(maker, Phi | Cast):
            work += maker.operands
        else:
            return False
        fresh.add(value.index)
    return allocates and not _leaks(function, fresh)


def _is_fresh(call: Call, events: Events, wrappers: set[str]) -> bool:
    if not isinstance(call.callee, FunctionAddress):
        return False
    event = events.of(call)
    if isinstance(event, Allocate):
        return event.pointer_to is None
    return event is None and call.callee.name in wrappers


def _leaks(function: Function, fresh: set[int]) -> bool:
    """Does a fresh address go anywhere but into comparisons, clearing and the result?"""
    compared = _only_compared(function)
    for instruction in function.instructions:
        if isinstance(instruction, Return | Compare | SetMemory):
            continue
        if isinstance(instruction, _PASSES_ON) and instruction.result is not None:
            if instruction.result.index in fresh or instruction.result.index in compared:
                continue
        for operand in instruction.operands:
            if isinstance(operand, Register) and operand.index in fresh:
                return True
    return False


def _only_compared(function: Function) -> set[int]:
    """Numbers made from addresses that go nowhere but into comparisons: `(long)p == 0`."""
    found = {
        i.result.index
        for i in function.instructions
        if isinstance(i, Cast) and i.operation == "ptrtoint" and i.result is not None
    }
    for instruction in function.instructions:
        if not isinstance(instruction, Compare):
            for operand in instruction.operands:
                if isinstance(operand, Register):
                    found.discard(operand.index)
    return found
