"""Functions that leave no trace: who calls them, how often and in which order, makes no difference.

    int by_size(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

`qsort` and `bsearch` may call such a function in any order, and only its results count. It writes
its own locals only, reads nothing that is atomic or volatile, and calls only functions like itself
or library functions that write nothing and keep nothing.
"""

from __future__ import annotations

from raceproof.concurrency.catalogue import Models
from raceproof.concurrency.model import FunctionModel
from raceproof.ir import (
    Assembly,
    AtomicUpdate,
    Call,
    CompareExchange,
    CopyMemory,
    Fence,
    Function,
    FunctionAddress,
    Instruction,
    Intrinsic,
    Load,
    Offset,
    Program,
    Register,
    SetMemory,
    StackSlot,
    Store,
    Value,
)

_NEVER = (Assembly, AtomicUpdate, CompareExchange, Fence)


def leaves_no_trace(program: Program, models: Models, name: str) -> bool:
    """Whether the function, and all that it calls, can be called without anyone noticing."""
    seen = {name}
    work = [name]
    while work:
        function = program.functions.get(work.pop())
        if function is None or not function.is_defined:
            return False
        own = _own_places(function)
        for instruction in function.instructions:
            if not _is_quiet(instruction, own):
                return False
            if not isinstance(instruction, Call):
                continue
            if not isinstance(instruction.callee, FunctionAddress):
                return False
            callee = instruction.callee.name
            model = models.applicable(callee, program)
            if model is not None:
                if not _only_reads(model):
                    return False
            elif callee not in seen:
                seen.add(callee)
                work.append(callee)
    return True


def _own_places(function: Function) -> set[int]:
    """The registers that hold addresses of the function's own locals."""
    own: set[int] = set()
    for instruction in function.instructions:
        result = instruction.result
        if result is None:
            continue
        is_inside = isinstance(instruction, Offset) and _is_in(instruction.base, own)
        if isinstance(instruction, StackSlot) or is_inside:
            own.add(result.index)
    return own


def _is_in(value: Value, own: set[int]) -> bool:
    return isinstance(value, Register) and value.index in own


def _is_quiet(instruction: Instruction, own: set[int]) -> bool:
    match instruction:
        case Store(pointer=pointer):
            return _is_in(pointer, own)
        case CopyMemory(target=target) | SetMemory(target=target):
            return _is_in(target, own)
        case Load(atomic=atomic, volatile=volatile):
            return not atomic and not volatile
        case Intrinsic():
            return not instruction.name.startswith(("va_", "stack"))
    return not isinstance(instruction, _NEVER)


def _only_reads(model: FunctionModel) -> bool:
    is_plain = model.role is None and not model.callbacks and not model.stores and not model.copies
    return (
        is_plain
        and not model.hidden_object
        and not model.caveat
        and not model.input
        and model.thread_safe
        and not model.writes
        and not model.uses
        and not model.keeps
    )
