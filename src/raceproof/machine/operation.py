"""What a library function does on the machine.

An operation tells what memory it will access and whether it can go on now, then does it. Waiting
is said with `Wait`: the thread stays before the operation that it returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raceproof.concurrency.model import FunctionModel, Success
from raceproof.machine.segments import AccessRange

if TYPE_CHECKING:
    from raceproof.machine.machine import Machine
    from raceproof.machine.thread import ConcreteThread


@dataclass(frozen=True, slots=True, eq=False)
class Wait:
    """The thread goes on with `operation`, as a visible step of its own, before it returns."""

    operation: Operation


@dataclass(frozen=True, slots=True, eq=False)
class Enter:
    """The thread calls a function of the program; then `after` decides what is next.

    `after` is executed with what the function returned as its only argument.
    """

    function: int
    arguments: tuple[Any, ...]
    after: Operation


@dataclass(frozen=True, slots=True, eq=False)
class Resume:
    """The thread goes on after the operation at `segment` of its topmost frame, with a result."""

    segment: int
    value: Any


class EndThread:
    """The thread is over; its result is already set."""


END_THREAD = EndThread()


_C11_NAMES = ("mtx_", "cnd_", "thrd_")
_C11_ERRORS = {16: 1, 110: 4}
"""`thrd_busy` for EBUSY, `thrd_timedout` for ETIMEDOUT, `thrd_error` for the rest."""


class Operation:
    """Base of all: a function of the library with its model."""

    is_sync = True
    """A scheduling point even if it accesses no memory."""
    is_cancel_point = False
    completes_when_cancelled = False
    """A cancelled thread still does it, and ends only then."""
    state: tuple[Any, ...] = ()
    """What distinguishes it from other operations of its name, to be compared."""
    is_second_half = False
    """Goes on with a call that has begun: follows a `Wait`."""

    def __init__(self, name: str, model: FunctionModel | None = None) -> None:
        self.name = name
        self.model = model or FunctionModel(name=name)

    def accesses(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> tuple[AccessRange, ...]:
        """Memory that it reads and writes through its arguments."""
        if self.is_second_half:
            return ()  # the first half has
        return machine.effects(self.model, arguments)

    def is_enabled(
        self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]
    ) -> bool:
        return True

    def is_idle(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> bool:
        """Whether it could go on, but nothing has happened that it waits for."""
        return False

    def execute(self, machine: Machine, thread: ConcreteThread, arguments: tuple[Any, ...]) -> Any:
        return 0

    def awaits(self, machine: Machine, arguments: tuple[Any, ...]) -> tuple[Any, bool] | None:
        """A lock, or ("thread", number), without whose release by its holders it cannot go on.

        And whether it only wants to read what the lock protects.
        """
        return None

    # --- for the writers of operations ----------------------------------------------------------

    def operand(self, machine: Machine, arguments: tuple[Any, ...], name: str) -> Any:
        """The value that the model names so; None if it names none."""
        place = self.model.operands.get(name)
        if place is None or place.index >= len(arguments):
            return None
        value = arguments[place.index]
        return machine.read_pointer(value) if place.indirect else value

    def result(self, succeeded: bool, error: int = 1) -> int:
        """What the function returns when it did (or did not) do what it is for."""
        if self.model.success is Success.NONZERO:
            return int(succeeded)
        if succeeded:
            return 0
        return _C11_ERRORS.get(error, 2) if self.name.startswith(_C11_NAMES) else error

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"
