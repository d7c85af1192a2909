"""Condition variables, barriers, semaphores, once.

A condition keeps who waits and how many of them may wake up; who of them does is the scheduler's
choice. A signal without waiters is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import Wait as WaitMode
from raceproof.machine.locks import BUSY, release_mutex, take_mutex
from raceproof.machine.operation import Enter, Operation, Wait

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

TIMED_OUT = 110
LAST_AT_BARRIER = (1 << 32) - 1


class ObjectOperation(Operation):
    """An operation on one synchronisation object."""

    object_name = ""

    def key(self, machine: Machine, arguments: tuple[Any, ...]) -> Any:
        return (self.object_name, machine.known(self.operand(machine, arguments, self.object_name)))


class ConditionWait(ObjectOperation):
    """Releases the lock and starts to wait; `_WakeUp` is the second half."""

    object_name = "condition"
    is_cancel_point = True

    def lock_key(self, machine: Machine, arguments: tuple[Any, ...]) -> Any:
        return ("lock", machine.known(self.operand(machine, arguments, "lock")))

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        waiting, tokens = machine.sync.get(key, ((), 0))
        machine.sync[key] = (tuple(sorted((*waiting, thread.number))), tokens)
        release_mutex(machine, thread, self.lock_key(machine, arguments))
        return Wait(_WakeUp(self.name, self.model))


class _WakeUp(ConditionWait):
    """Woken up, the thread takes the lock again; so does one that was cancelled meanwhile."""

    completes_when_cancelled = True

    is_second_half = True

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        if self.lock_key(machine, arguments) in machine.sync:
            return False
        _, tokens = machine.sync.get(self.key(machine, arguments), ((), 0))
        may_give_up = self.model.wait is WaitMode.TIMED or machine.wakes_spuriously
        return tokens > 0 or may_give_up or thread.must_end

    def awaits(self, machine: Machine, arguments: tuple[Any, ...]) -> tuple[Any, bool] | None:
        return self.lock_key(machine, arguments), False

    def is_idle(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> bool:
        _, tokens = machine.sync.get(self.key(machine, arguments), ((), 0))
        is_timed = self.model.wait is WaitMode.TIMED
        return tokens == 0 and not thread.must_end and not is_timed

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        waiting, tokens = machine.sync.get(key, ((), 0))
        rest = tuple(number for number in waiting if number != thread.number)
        if rest:
            machine.sync[key] = (rest, min(max(tokens - 1, 0), len(rest)))
        else:
            machine.sync.pop(key, None)
        take_mutex(machine, thread, self.lock_key(machine, arguments), False)
        return self.result(tokens > 0 or self.model.wait is not WaitMode.TIMED, TIMED_OUT)


class ConditionSignal(ObjectOperation):
    object_name = "condition"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        state = machine.sync.get(key)
        if state is not None:
            waiting, tokens = state
            woken = len(waiting) if self.model.broadcast else min(tokens + 1, len(waiting))
            machine.sync[key] = (waiting, woken)
        return 0


class ConditionReset(ObjectOperation):
    """Initialises or destroys a condition."""

    object_name = "condition"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        machine.sync.pop(self.key(machine, arguments), None)
        return 0


class BarrierInit(ObjectOperation):
    object_name = "barrier"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        count = machine.known(self.operand(machine, arguments, "count"))
        machine.sync[self.key(machine, arguments)] = (count, (), ())
        return 0


class BarrierWait(ObjectOperation):
    """State: count, who waits, who may leave."""

    object_name = "barrier"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        count, waiting, leaving = machine.sync.get(key, (1, (), ()))
        waiting = tuple(sorted((*waiting, thread.number)))
        if len(waiting) >= count:
            others = tuple(number for number in waiting if number != thread.number)
            machine.sync[key] = (count, (), tuple(sorted((*leaving, *others))))
            return LAST_AT_BARRIER
        machine.sync[key] = (count, waiting, leaving)
        return Wait(_LeaveBarrier(self.name, self.model))


class _LeaveBarrier(ObjectOperation):
    object_name = "barrier"
    is_second_half = True

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        _, _, leaving = machine.sync.get(self.key(machine, arguments), (0, (), ()))
        return thread.number in leaving

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        count, waiting, leaving = machine.sync[key]
        rest = tuple(number for number in leaving if number != thread.number)
        machine.sync[key] = (count, waiting, rest)
        return 0


class BarrierDestroy(ObjectOperation):
    object_name = "barrier"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        machine.sync.pop(self.key(machine, arguments), None)
        return 0


class SemaphoreInit(ObjectOperation):
    object_name = "semaphore"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        value = self.operand(machine, arguments, "value")
        address = self.operand(machine, arguments, "semaphore")
        returned = 0
        if address is None:
            block = machine.memory.allocate(thread.arena, 32, "semaphore", f"call:{self.name}")
            address = returned = block.base
        machine.sync[("semaphore", address)] = machine.known(1 if value is None else value)
        return returned


class SemaphoreWait(ObjectOperation):
    object_name = "semaphore"
    is_cancel_point = True

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        if self.model.wait is not WaitMode.BLOCK or thread.must_end:
            return True
        return bool(machine.sync.get(self.key(machine, arguments), 0) > 0)

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        value = machine.sync.get(key, 0)
        if value > 0:
            machine.sync[key] = value - 1
        return self.result(value > 0, (1 << 32) - 1)


_MOST = 0x7FFFFFFF
"""`SEM_VALUE_MAX`."""


class SemaphorePost(ObjectOperation):
    object_name = "semaphore"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        count = machine.sync.get(key, 0)
        if count >= _MOST and self.name == "sem_post":
            return -1  # EOVERFLOW
        machine.sync[key] = count + 1
        return 0


class SemaphoreValue(ObjectOperation):
    object_name = "semaphore"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        value = machine.sync.get(self.key(machine, arguments), 0)
        target = self.operand(machine, arguments, "result_pointer")
        if target:
            machine.memory.write(target, value.to_bytes(4, "little"))
            return 0
        return value


class SemaphoreDestroy(ObjectOperation):
    object_name = "semaphore"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        machine.sync.pop(self.key(machine, arguments), None)
        return 0


class Once(ObjectOperation):
    """State: the thread that runs the routine, then `done`."""

    object_name = "control"

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        return bool(machine.sync.get(self.key(machine, arguments), "done") == "done")

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        if machine.sync.get(key) == "done":
            return 0
        machine.sync[key] = thread.number
        argument = self.operand(machine, arguments, "argument")
        routine = machine.known(self.operand(machine, arguments, "routine"))
        after = _OnceDone(self.name, self.model)
        after.arguments = arguments
        return Enter(routine, () if argument is None else (argument,), after)


class _OnceDone(ObjectOperation):
    object_name = "control"
    arguments: tuple[Any, ...] = ()

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        machine.sync[self.key(machine, self.arguments)] = "done"
        return 0


class OnceBegin(Once):
    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = self.key(machine, arguments)
        if machine.sync.get(key) == "done":
            return 0
        machine.sync[key] = thread.number
        return 1


class OnceEnd(ObjectOperation):
    object_name = "control"

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        machine.sync[self.key(machine, arguments)] = "done"
        return 0


class OnceAbort(OnceEnd):
    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        machine.sync.pop(self.key(machine, arguments), None)
        return 0


__all__ = [
    "BUSY",
    "BarrierDestroy",
    "BarrierInit",
    "BarrierWait",
    "ConditionReset",
    "ConditionSignal",
    "ConditionWait",
    "Once",
    "OnceAbort",
    "OnceBegin",
    "OnceEnd",
    "SemaphoreDestroy",
    "SemaphoreInit",
    "SemaphorePost",
    "SemaphoreValue",
    "SemaphoreWait",
]
