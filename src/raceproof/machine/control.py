"""Threads' lives, atomic sections, inputs and assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import Wait as WaitMode
from raceproof.machine.faults import Aborted, AssertionFailed, ProgramExit, UndefinedBehaviour
from raceproof.machine.operation import END_THREAD, Enter, Operation
from raceproof.machine.unknown import Unknown

if TYPE_CHECKING:
    from raceproof.ir import Call
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

FIRST_ID = 1
"""The id of `main` as the program sees it; the others follow."""


class Create(Operation):
    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        entry = machine.known(self.operand(machine, arguments, "entry"))
        argument = self.operand(machine, arguments, "argument")
        instruction = machine.current_instruction(thread)
        child = machine.start_thread(
            entry, () if argument is None else (argument,), instruction, thread.number
        )
        number = child.number + FIRST_ID
        if self.model.id_is_result:
            return number
        place = self.model.operands.get("id_pointer")
        if place is not None and arguments[place.index]:
            machine.write_pointer(arguments[place.index], number)
        return self.result(True)


def thread_of(machine: Machine, value: Any) -> ConcreteThread:
    number: int = machine.known(value) - FIRST_ID
    if not 0 <= number < len(machine.threads):
        raise UndefinedBehaviour(f"there is no thread with id {value}")
    return machine.threads[number]


class Join(Operation):
    is_cancel_point = True

    def target(self, machine: Machine, arguments: tuple[Any, ...]) -> ConcreteThread | None:
        """The thread it waits for; None if there is no such thread."""
        try:
            return thread_of(machine, self.operand(machine, arguments, "thread"))
        except UndefinedBehaviour:
            return None

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        if self.model.wait is not WaitMode.BLOCK or thread.is_cancelled:
            return True
        target = self.operand(machine, arguments, "thread")
        return not thread_of(machine, target).is_alive

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        target = thread_of(machine, self.operand(machine, arguments, "thread"))
        if target.is_alive:
            return self.result(False, 16)
        if machine.ghosts and not target.is_joined:
            machine.ghosts -= 1
        target.is_joined = True
        pointer = self.operand(machine, arguments, "result_pointer")
        if pointer is not None and machine.known(pointer):
            machine.write_pointer(pointer, target.result)
        return self.result(True)

    def touches(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        target = thread_of(machine, self.operand(machine, arguments, "thread"))
        return (("thread", target.number),)


class ExitThread(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        value = self.operand(machine, arguments, "value")
        thread.result = 0 if value is None else value
        return END_THREAD


class ExitProcess(Operation):
    """`exit`, `abort` and failed assertions."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        status = self.operand(machine, arguments, "status")
        if status is not None:
            raise ProgramExit(0 if isinstance(status, Unknown) else status & 0xFF)
        if "assert" in self.name or "error" in self.name:
            raise AssertionFailed(f"{self.name} was called")
        raise Aborted(f"{self.name} was called")


class Cancel(Operation):
    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        thread_of(machine, self.operand(machine, arguments, "thread")).is_cancelled = True
        return 0

    def touches(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        target = thread_of(machine, self.operand(machine, arguments, "thread"))
        return (("thread", target.number),)


class CancelPoint(Operation):
    is_cancel_point = True

    def touches(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (("thread", thread.number),)


class Nothing(Operation):
    """Has no effect that anybody could see."""

    is_sync = False


class CancelState(Nothing):
    """Cancellation is always deferred and never off on the machine."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        machine.left_out.add("how cancellation is set")
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
            after = Nothing(self.name)
            return Enter(machine.known(routine), () if argument is None else (argument,), after)
        return 0


class Self(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        return thread.number + FIRST_ID


class AtomicBegin(Operation):
    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        thread.atomic_depth += 1
        return 0

    def touches(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return ()


class AtomicEnd(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        if thread.atomic_depth > 0:
            thread.atomic_depth -= 1
        return 0


class Nondeterministic(Operation):
    """Any value of its type: an input."""

    is_sync = False

    def __init__(self, name: str, model: Any, call: Call | None) -> None:
        super().__init__(name, model)
        bits = getattr(call.result.type, "bits", 0) if call and call.result is not None else 32
        self._bits = bits
        is_float = (
            call is not None
            and call.result is not None
            and (type(call.result.type).__name__ == "FloatType")
        )
        self._is_float = is_float
        self._range = self.model.range
        if name.endswith("_bool") or bits == 1:
            self._range = (0, 1)

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        value = machine.input(self._bits or machine.program.layout.pointer_size * 8, self._range)
        return float(value) if self._is_float and not isinstance(value, Unknown) else value


class Assume(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        condition = self.operand(machine, arguments, "condition")
        if not isinstance(condition, Unknown) and not condition:
            raise Aborted("an assumption does not hold")
        return 0


class SpecificCreate(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = machine.sync.get("keys", 0)
        machine.sync["keys"] = key + 1
        if self.operand(machine, arguments, "destructor"):
            machine.left_out.add("destructors of thread-specific values")
        machine.memory.write(
            machine.known(self.operand(machine, arguments, "key_pointer")),
            key.to_bytes(4, "little"),
        )
        return 0


class SpecificGet(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        return thread.specifics.get(machine.known(self.operand(machine, arguments, "key")), 0)


class SpecificSet(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = machine.known(self.operand(machine, arguments, "key"))
        thread.specifics[key] = self.operand(machine, arguments, "value")
        return 0
