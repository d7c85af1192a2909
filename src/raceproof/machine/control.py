"""Threads' lives, atomic sections, inputs and assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import BytesSize
from raceproof.concurrency.model import Wait as WaitMode
from raceproof.machine.faults import Aborted, UndefinedBehaviour, Unsupported
from raceproof.machine.operation import Operation
from raceproof.machine.unknown import UNKNOWN, Unknown

if TYPE_CHECKING:
    from raceproof.ir import Call
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread

_BUSY, _DEADLOCK = 16, 35
COMPUTED_ERROR = "computed error"
"""Among the thread-locals: the error number of the library call before, 0 for none; not there if it
was not computed."""
FIRST_ID = 1
"""The id of `main` as the program sees it; the others follow."""


class Create(Operation):
    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        entry = machine.known(self.operand(machine, arguments, "entry"))
        argument = self.operand(machine, arguments, "argument")
        if self.model.virtual_slot is not None:
            entry, argument = _virtual(machine, entry, self.model.virtual_slot)
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


def _virtual(machine: Machine, holder: int, slot: int) -> tuple[int, Any]:
    """The virtual function of an object whose address is held somewhere, and the object."""
    made = machine.read_pointer(holder)
    table = machine.known(machine.read_pointer(made))
    place = table + slot * machine.program.layout.pointer_size
    return machine.known(machine.read_pointer(place)), made


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
        if self.model.wait is not WaitMode.BLOCK or thread.must_end:
            return True
        target = thread_of(machine, self.operand(machine, arguments, "thread"))
        return not target.is_alive or self._is_deadlock(machine, thread, target)

    def _is_deadlock(
        self, machine: Machine, thread: ConcreteThread, target: ConcreteThread
    ) -> bool:
        """A thread that waits for itself, or for one that waits for it: the call fails at once."""
        if target is thread:
            return True
        theirs = target.pending
        return (
            theirs is not None
            and isinstance(theirs.operation, Join)
            and theirs.operation.target(machine, theirs.arguments) is thread
        )

    def awaits(self, machine: Machine, arguments: tuple[Any, ...]) -> tuple[Any, bool] | None:
        target = self.target(machine, arguments)
        if target is None or self.model.wait is not WaitMode.BLOCK:
            return None
        return ("thread", target.number), False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        target = thread_of(machine, self.operand(machine, arguments, "thread"))
        if target.is_alive:
            is_deadlock = self._is_deadlock(machine, thread, target)
            return self.result(False, _DEADLOCK if is_deadlock else _BUSY)
        if machine.ghosts and not target.is_joined:
            machine.ghosts -= 1
        target.is_joined = True
        pointer = self.operand(machine, arguments, "result_pointer")
        if pointer is not None and machine.known(pointer):
            self._hand_over(machine, pointer, target.result)
        return self.result(True)

    def _hand_over(self, machine: Machine, pointer: int, result: Any) -> None:
        """`pthread_join` writes a pointer, `thrd_join` an `int`: the model says how many bytes."""
        place = self.model.operands["result_pointer"]
        sizes = [effect.size for effect in self.model.writes if effect.argument == place.index]
        is_small = machine.program.layout.pointer_size == 8 and any(
            isinstance(size, BytesSize) and size.lp64 == 4 for size in sizes
        )
        if isinstance(result, Unknown) or not is_small:
            machine.write_pointer(pointer, result)
        else:
            machine.memory.write(pointer, (result & 0xFFFF_FFFF).to_bytes(4, "little"))


class Cancel(Operation):
    def target(self, machine: Machine, arguments: tuple[Any, ...]) -> ConcreteThread | None:
        """The thread it is for; None if there is no such thread."""
        try:
            return thread_of(machine, self.operand(machine, arguments, "thread"))
        except UndefinedBehaviour:
            return None

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        thread_of(machine, self.operand(machine, arguments, "thread")).is_cancelled = True
        return 0


class CancelPoint(Operation):
    is_cancel_point = True


class CancelState(Operation):
    """`pthread_setcancelstate`; `pthread_setcanceltype` changes nothing that we look at."""

    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        state = self.operand(machine, arguments, "state")
        if state is not None:
            old, thread.is_uncancellable = thread.is_uncancellable, bool(machine.known(state))
        else:
            machine.left_out.add("asynchronous cancellation")
            old = False
        if len(arguments) > 1 and machine.known(arguments[1]):
            machine.memory.write(arguments[1], int(old).to_bytes(4, "little"))
        return 0


class Fork(Operation):
    """`fork`: the execution goes on as the parent, or as the child, which has one thread.

    What the child does to its copy of the memory is no business of the parent's threads.
    """

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        if machine.is_exploring and machine.alive > 1:
            raise Unsupported("fork among threads")
        kind = machine.input(2, (0, 2))
        if kind == 0:
            return UNKNOWN if machine.is_open else machine.input(32, (2, (1 << 31) - 1))
        if kind == 1:
            return (1 << 32) - 1
        machine.leave_alone(thread)
        return 0


class Forever(Operation):
    """`pause`: only a signal with a handler ends it."""

    is_cancel_point = True

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        return thread.must_end or machine.has_handlers

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        raise Unsupported("a signal that comes for sure")


class Nothing(Operation):
    """Has no effect that could be seen."""

    is_sync = False


class Self(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        return thread.number + FIRST_ID


class AtomicBegin(Operation):
    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        thread.atomic_depth += 1
        return 0


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
        if self.model.caveat:
            machine.granted.add(self.model.caveat)
        value = machine.input(self._bits or machine.program.layout.pointer_size * 8, self._range)
        if self._is_float:
            return UNKNOWN if isinstance(value, Unknown) else float(value)
        return value


class ErrorNumber(Nondeterministic):
    """`raceproof_error_number()`: what is in `errno` after a call that failed."""

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        known = thread.thread_locals.get(COMPUTED_ERROR)
        if known is None:
            return super().execute(machine, thread, arguments)
        return known or machine.errno()


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
        if machine.sync.get("keys deleted"):
            machine.left_out.add("a key that gets the number of a deleted one")
        machine.memory.write(
            machine.known(self.operand(machine, arguments, "key_pointer")),
            key.to_bytes(4, "little"),
        )
        destructor = self.operand(machine, arguments, "destructor")
        if destructor:
            machine.sync[("destructor", key)] = destructor
        return 0


class SpecificDelete(Operation):
    is_sync = False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        key = machine.known(self.operand(machine, arguments, "key"))
        machine.sync.pop(("destructor", key), None)
        machine.sync["keys deleted"] = 1
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
