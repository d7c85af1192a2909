"""Which operation a function's name means, from its model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raceproof.concurrency import Models
from raceproof.concurrency.model import FunctionModel, Role
from raceproof.ir import Call, PointerType, Program, VoidType
from raceproof.machine import control, heap, locks, signals
from raceproof.machine.libc import LibraryCall
from raceproof.machine.operation import Operation

_BY_ROLE: dict[Role, Callable[[str, FunctionModel], Operation]] = {
    Role.CREATE: control.Create,
    Role.JOIN: control.Join,
    Role.DETACH: control.Nothing,
    Role.EXIT_THREAD: control.ExitThread,
    Role.EXIT_PROCESS: control.ExitProcess,
    Role.CANCEL: control.Cancel,
    Role.CANCEL_STATE: control.CancelState,
    Role.CANCEL_POINT: control.CancelPoint,
    Role.CLEANUP_PUSH: control.CleanupPush,
    Role.CLEANUP_POP: control.CleanupPop,
    Role.SELF: control.Self,
    Role.LOCK: locks.Lock,
    Role.UNLOCK: locks.Unlock,
    Role.LOCK_INIT: locks.LockInit,
    Role.LOCK_DESTROY: locks.LockDestroy,
    Role.LOCK_ATTRIBUTE: locks.LockAttribute,
    Role.CONDITION_WAIT: signals.ConditionWait,
    Role.CONDITION_SIGNAL: signals.ConditionSignal,
    Role.CONDITION_INIT: signals.ConditionReset,
    Role.CONDITION_DESTROY: signals.ConditionReset,
    Role.BARRIER_INIT: signals.BarrierInit,
    Role.BARRIER_WAIT: signals.BarrierWait,
    Role.BARRIER_DESTROY: signals.BarrierDestroy,
    Role.SEMAPHORE_INIT: signals.SemaphoreInit,
    Role.SEMAPHORE_WAIT: signals.SemaphoreWait,
    Role.SEMAPHORE_POST: signals.SemaphorePost,
    Role.SEMAPHORE_VALUE: signals.SemaphoreValue,
    Role.SEMAPHORE_DESTROY: signals.SemaphoreDestroy,
    Role.ONCE: signals.Once,
    Role.ONCE_BEGIN: signals.OnceBegin,
    Role.ONCE_END: signals.OnceEnd,
    Role.ONCE_ABORT: signals.OnceAbort,
    Role.ATOMIC_BEGIN: control.AtomicBegin,
    Role.ATOMIC_END: control.AtomicEnd,
    Role.ATOMIC_OPERATION: heap.AtomicCall,
    Role.ALLOCATE: heap.Allocate,
    Role.REALLOCATE: heap.Reallocate,
    Role.FREE: heap.Free,
    Role.SPECIFIC_CREATE: control.SpecificCreate,
    Role.SPECIFIC_DELETE: control.Nothing,
    Role.SPECIFIC_GET: control.SpecificGet,
    Role.SPECIFIC_SET: control.SpecificSet,
    Role.ASSUME: control.Assume,
}


class Library:
    """The operations of one program."""

    def __init__(self, program: Program, models: Models) -> None:
        self._program = program
        self._models = models
        self._begin = control.AtomicBegin("atomic section")
        self._end = control.AtomicEnd("atomic section")

    def operation(self, name: str, call: Call | None) -> Operation | None:
        """What a call of `name` does; None if the program's own body says it."""
        model = self._models.applicable(name, self._program)
        if model is not None and model.role is not None:
            if model.role is Role.ATOMIC_FUNCTION:
                return None if self._is_defined(name) else LibraryCall(name, None, _bits(call))
            if model.role is Role.NONDETERMINISTIC:
                return control.Nondeterministic(name, model, call)
            return _BY_ROLE[model.role](name, model)
        if self._is_defined(name) and (model is None or not model.override):
            return None
        if model is not None and model.no_return:
            return control.ExitProcess(name, model)
        return LibraryCall(name, model, _bits(call))

    def atomic_section(self, name: str) -> tuple[Operation, Operation] | None:
        """What begins and ends the atomic section that the body of `name` is."""
        model = self._models.applicable(name, self._program)
        if model is not None and model.role is Role.ATOMIC_FUNCTION and self._is_defined(name):
            return self._begin, self._end
        return None

    def keeps(self, name: str, index: int) -> bool:
        """Whether an external function may hand its argument to another thread, or keep it."""
        model = self._models.applicable(name, self._program)
        if model is None:
            return True
        if model.callbacks or model.role is Role.SPECIFIC_SET:
            return True
        return any(
            place.index == index and operand in ("argument", "value")
            for operand, place in model.operands.items()
        )

    def _is_defined(self, name: str) -> bool:
        function = self._program.functions.get(name)
        return function is not None and function.is_defined


def _bits(call: Call | None) -> int:
    """Width of the result; 0 if there is none."""
    if call is None or call.result is None:
        return 0
    type_: Any = call.result.type
    if isinstance(type_, VoidType):
        return 0
    if isinstance(type_, PointerType):
        return 64
    return int(getattr(type_, "bits", 32))
