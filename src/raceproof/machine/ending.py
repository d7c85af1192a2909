"""How threads and the process end: cleanup handlers, destructors, functions for the exit.

A thread that calls `pthread_exit` or is cancelled runs its cleanup handlers, the last one first,
then (as one that returns from its entry does) the destructors of its thread-specific values. The
process runs what `atexit` was told. All of it is code of the program, called one after the other:
each call comes back to the operation that asked for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.machine.faults import (
    Aborted,
    AssertionFailed,
    ProgramExit,
    UndefinedBehaviour,
    Unsupported,
)
from raceproof.machine.operation import END_THREAD, Enter, Operation
from raceproof.machine.unknown import Unknown

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

_WITH_HANDLERS = ("exit",)
_MOST_DESTRUCTIONS = 400
"""A destructor may set the value again; then it is called again, but not for ever."""


class EndingThread(Operation):
    """The rest of a thread's life."""

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        if thread.cleanups:
            routine, argument = thread.cleanups[-1]
            thread.cleanups = thread.cleanups[:-1]
            if routine is None:
                return machine.jump_back(thread, argument, 1)
            return Enter(machine.known(routine), (argument,), self)
        return self.destroy(machine, thread)

    def destroy(self, machine: Machine, thread: ConcreteThread) -> Any:
        """Call the next destructor; without one the thread is over."""
        for key in sorted(thread.specifics):
            destructor = machine.sync.get(("destructor", key))
            value = thread.specifics[key]
            if destructor and not isinstance(value, Unknown) and value:
                thread.specifics[key] = 0
                thread.destructions += 1
                if thread.destructions > _MOST_DESTRUCTIONS:
                    raise UndefinedBehaviour("a destructor that never comes to an end")
                return Enter(machine.known(destructor), (value,), self)
        return END_THREAD


ENDING_THREAD = EndingThread("the end of the thread")


class ExitThread(Operation):
    """`pthread_exit`; without a value the thread keeps the result it has."""

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        value = self.operand(machine, arguments, "value")
        if value is not None:
            thread.result = value
        return ENDING_THREAD.execute(machine, thread, ())


def cancelled(machine: Machine, thread: ConcreteThread) -> Any:
    """What a thread does that finds itself cancelled."""
    thread.is_cancelled = False
    thread.result = (1 << 8 * machine.program.layout.pointer_size) - 1
    return ENDING_THREAD.execute(machine, thread, ())


class ExitProcess(Operation):
    """`exit`, `abort` and failed assertions."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        status = self.operand(machine, arguments, "status")
        if status is not None:
            code = 0 if isinstance(status, Unknown) else status & 0xFF
            if self.name in _WITH_HANDLERS:
                return EndingProcess(code).execute(machine, thread, ())
            raise ProgramExit(code)
        if "assert" in self.name or "error" in self.name:
            raise AssertionFailed(f"{self.name} was called")
        raise Aborted(f"{self.name} was called")


class ExitOnError(Operation):
    """`error(status, ...)`: ends the process unless the status is 0."""

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        status = machine.known(arguments[0])
        if status:
            return EndingProcess(status & 0xFF).execute(machine, thread, ())
        return 0


class Throw(Operation):
    """What may be thrown to a handler; the machine cannot follow it there."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        raise Unsupported(f"{self.name}: an exception that may be caught")


class EndingProcess(Operation):
    """The functions that were registered for the exit, the last one first."""

    is_sync = False

    def __init__(self, code: int) -> None:
        super().__init__("the end of the process")
        self.state = (code,)

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        handlers = machine.sync.get("atexit", ())
        if not handlers:
            raise ProgramExit(self.state[0])
        function, given = handlers[-1]
        machine.sync["atexit"] = handlers[:-1]
        return Enter(machine.known(function), given, self)


class AtExit(Operation):
    """`atexit(function)` and `__cxa_atexit(function, argument, ...)`."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        given = arguments[1:2]
        machine.sync["atexit"] = (*machine.sync.get("atexit", ()), (arguments[0], given))
        return 0


class CleanupPush(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        routine = self.operand(machine, arguments, "routine")
        argument = self.operand(machine, arguments, "argument")
        thread.cleanups = (*thread.cleanups, (routine, argument))
        return 0


class CleanupPop(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        if not thread.cleanups:
            return 0
        routine, argument = thread.cleanups[-1]
        thread.cleanups = thread.cleanups[:-1]
        if machine.known(self.operand(machine, arguments, "execute")):
            return Enter(machine.known(routine), (argument,), _Popped(self.name))
        return 0


class _Popped(Operation):
    is_sync = False


class RegisterCancel(Operation):
    """glibc's macro: the handler is code after `__sigsetjmp`, reached by a jump back to it."""

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        thread.cleanups = (*thread.cleanups, (None, machine.known(arguments[0])))
        return 0


class UnregisterCancel(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        thread.cleanups = thread.cleanups[:-1]
        return 0
